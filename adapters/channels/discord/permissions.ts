import { PermissionFlagsBits } from 'discord.js';

/** The permissions that the bot needs in a server, and why. */
const NEEDED = [
  ['ViewChannel', 'see channels'],
  ['SendMessages', 'answer'],
  ['SendMessagesInThreads', 'answer in threads'],
  ['ReadMessageHistory', 'read what it missed, and reply to messages'],
  ['EmbedLinks', 'show the answers of commands'],
  ['AttachFiles', 'send long replies and exports as files'],
] as const satisfies readonly (readonly [keyof typeof PermissionFlagsBits, string])[];

const SCOPES = ['bot', 'applications.commands'];

/** The URL that adds the bot to a server, with exactly these permissions. */
export function inviteUrl(applicationId: string, site: string): string {
  const query = new URLSearchParams({
    client_id: applicationId,
    permissions: String(neededBits()),
    integration_type: '0',
    scope: SCOPES.join(' '),
  });
  return `${site}/oauth2/authorize?${query}`;
}

function neededBits(): bigint {
  return NEEDED.reduce((bits, [name]) => bits | PermissionFlagsBits[name], 0n);
}

/** The missing permissions. */
export function missingOf(permissions: string): readonly string[] {
  const given = BigInt(permissions);
  if ((given & PermissionFlagsBits.Administrator) !== 0n) return [];
  return NEEDED.filter(([name]) => (given & PermissionFlagsBits[name]) === 0n).map(
    ([name, use]) => `${name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')} (to ${use})`,
  );
}

/** A token begins with the id of its bot. Null if it does not look like one. */
export function idOfToken(token: string): string | null {
  const id = Buffer.from(token.split('.')[0] ?? '', 'base64').toString('latin1');
  return /^\d{15,22}$/.test(id) ? id : null;
}
