import { type RESTPutAPIApplicationCommandsJSONBody, Routes } from 'discord.js';
import { z } from 'zod';
import { describe, type Log, type StateStore } from '../../../../src/adapter-kit.ts';
import type { Rest } from '../web/rest.ts';
import { isOutOfReach } from '../web/retry.ts';
import { hashOf } from './command-json.ts';

const NAMESPACE = 'discord.commands';
const GLOBAL = 'global';

export interface Registration {
  readonly rest: Rest;
  readonly state: StateStore;
  readonly log: Log;
  readonly applicationId: string;
  readonly commands: RESTPutAPIApplicationCommandsJSONBody;
  /** `global`, or the only servers that get them. Empty removes all registrations. */
  readonly scopes: readonly string[];
}

const storedSchema = z.object({ hash: z.string(), scopes: z.array(z.string()) });

/**
 * Registers the commands with Discord only if they changed or are missing, because each write counts against a daily
 * limit.
 */
export async function registerCommands(registration: Registration): Promise<void> {
  const { state, applicationId, commands, scopes, log } = registration;
  const before = storedSchema.safeParse(await state.get(NAMESPACE, applicationId)).data ?? { hash: '', scopes: [] };
  if (scopes.length === 0 && before.scopes.length === 0) return;
  const hash = hashOf({ commands, scopes });
  if (before.hash === hash && (await areThere(registration))) return;
  for (const scope of before.scopes) if (!scopes.includes(scope)) await takeBack(registration, scope);
  const refused: string[] = [];
  for (const scope of scopes) if (!(await offer(registration, scope))) refused.push(scope);
  const written = scopes.filter((scope) => !refused.includes(scope));
  await state.set(NAMESPACE, applicationId, { hash: refused.length === 0 ? hash : '', scopes: written });
  log.info('The commands were registered with Discord', {
    commands: commands.length,
    in: written.join(', ') || 'nowhere',
  });
}

/** Whether Discord still has them all: somebody may have deleted some. */
async function areThere({ rest, applicationId, commands, scopes }: Registration): Promise<boolean> {
  const lists = scopes.map((scope) => missingIn({ rest, applicationId, commands }, scope));
  return (await Promise.all(lists)).every((missing) => missing.length === 0);
}

const namesSchema = z.array(z.object({ name: z.string() }));

/** The commands that Discord lacks; in a server without the bot, all of them. */
export async function missingIn(
  { rest, applicationId, commands }: Pick<Registration, 'rest' | 'applicationId' | 'commands'>,
  scope: string,
): Promise<readonly string[]> {
  const wanted = commands.map(({ name }) => name);
  try {
    const registered = namesSchema.parse(await rest.get(commandsRoute(applicationId, scope)));
    const names = new Set(registered.map(({ name }) => name));
    return wanted.filter((name) => !names.has(name));
  } catch (error) {
    if (isOutOfReach(error)) return wanted;
    throw error;
  }
}

/** Removes the commands from a server that the bot has left. */
async function takeBack(registration: Registration, scope: string): Promise<void> {
  try {
    await put(registration, scope, []);
  } catch (error) {
    if (!isOutOfReach(error)) throw error;
  }
}

/** Registers the commands. A server that Discord does not know is skipped, so that the others get theirs. */
async function offer(registration: Registration, scope: string): Promise<boolean> {
  try {
    await put(registration, scope, registration.commands);
    return true;
  } catch (error) {
    if (scope === GLOBAL || !isOutOfReach(error)) throw error;
    registration.log.warn('The commands could not be registered in a server; is the bot in it?', {
      server: scope,
      cause: describe(error),
    });
    return false;
  }
}

async function put(
  { rest, applicationId }: Registration,
  scope: string,
  body: Registration['commands'],
): Promise<void> {
  await rest.put(commandsRoute(applicationId, scope), { body });
}

function commandsRoute(applicationId: string, scope: string) {
  return scope === GLOBAL
    ? Routes.applicationCommands(applicationId)
    : Routes.applicationGuildCommands(applicationId, scope);
}

export function scopesOf(settings: {
  readonly commands: boolean;
  readonly command_guilds: readonly string[];
}): readonly string[] {
  if (!settings.commands) return [];
  return settings.command_guilds.length === 0 ? [GLOBAL] : settings.command_guilds;
}
