import { type RESTPutAPIApplicationCommandsJSONBody, Routes } from 'discord.js';
import { z } from 'zod';
import type { Log, StateStore } from '../../../src/index.ts';
import { hashOf } from './command-json.ts';
import type { Rest } from './rest.ts';

const NAMESPACE = 'discord.commands';
const GLOBAL = 'global';

export interface Registration {
  readonly rest: Rest;
  readonly state: StateStore;
  readonly log: Log;
  readonly applicationId: string;
  readonly commands: RESTPutAPIApplicationCommandsJSONBody;
  /** `global`, or the servers that alone get them. Empty takes back what was registered. */
  readonly scopes: readonly string[];
}

const storedSchema = z.object({ hash: z.string(), scopes: z.array(z.string()) });

/** Writes the commands to Discord when they changed, and only then: each write counts against a daily limit. */
export async function registerCommands(registration: Registration): Promise<void> {
  const { state, applicationId, commands, scopes, log } = registration;
  const before = storedSchema.safeParse(await state.get(NAMESPACE, applicationId)).data ?? { hash: '', scopes: [] };
  const hash = hashOf({ commands, scopes });
  if (before.hash === hash || (scopes.length === 0 && before.scopes.length === 0)) return;
  for (const scope of before.scopes) if (!scopes.includes(scope)) await put(registration, scope, []);
  for (const scope of scopes) await put(registration, scope, commands);
  await state.set(NAMESPACE, applicationId, { hash, scopes: [...scopes] });
  log.info('The commands were registered with Discord', {
    commands: commands.length,
    in: scopes.join(', ') || 'nowhere',
  });
}

async function put(
  { rest, applicationId }: Registration,
  scope: string,
  body: Registration['commands'],
): Promise<void> {
  await rest.put(commandsRoute(applicationId, scope), { body });
}

export function commandsRoute(applicationId: string, scope: string) {
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
