import { isDeepStrictEqual } from 'node:util';
import type { Config } from './schema.ts';

export interface ConfigChange {
  /** What runs from now on: the new values, and the old ones of everything that only a restart can change. */
  readonly config: Config;
  /** Whether anything differs that applies without a restart. */
  readonly changed: boolean;
  /** The parts of the file that differ and wait for a restart, as the file names them. */
  readonly waiting: readonly string[];
}

const fixed = ['storage', 'queue', 'log', 'operations', 'providers', 'channels', 'plugins'] as const;

/**
 * The parts of a new configuration that a running process can apply. Connections, secrets and the list of agents stay as
 * they were; models, thresholds, prompts, personas and everything else of an agent change at its next turn.
 */
export function planChange(running: Config, next: Config): ConfigChange {
  const waiting: string[] = fixed.filter((name) => !isDeepStrictEqual(running[name], next[name]));
  if (!isDeepStrictEqual(idsOf(running), idsOf(next))) waiting.push('agents (added or removed)');
  const { storage, queue, log, operations, providers, channels, plugins } = running;
  const agents = running.agents.map((agent) => next.agents.find(({ id }) => id === agent.id) ?? agent);
  const main = defaultIn(next, agents) ?? defaultIn(running, agents);
  const config: Config = {
    ...next,
    agents: agents.map((agent) => ({ ...agent, default: agent.id === main })),
    storage,
    queue,
    log,
    operations,
    providers,
    channels,
    plugins,
  };
  return { config, changed: !isDeepStrictEqual(config, running), waiting };
}

function idsOf(config: Config): readonly string[] {
  return config.agents.map((agent) => agent.id).sort();
}

/** The default may have been given to an agent that only a restart brings. */
function defaultIn(config: Config, agents: Config['agents']): string | null {
  const id = config.agents.find((agent) => agent.default)?.id;
  return agents.find((agent) => agent.id === id)?.id ?? null;
}
