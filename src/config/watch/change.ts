import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../schema.ts';

export interface ConfigChange {
  /**
   * The configuration in effect from now on: the new values, and the old ones of everything that requires a restart.
   */
  readonly config: Config;
  /** Whether anything changed that applies without a restart. */
  readonly changed: boolean;
  /** The changed parts of the file that require a restart, named as in the file. */
  readonly waiting: readonly string[];
}

const FIXED = ['storage', 'queue', 'log', 'operations', 'inspector', 'providers', 'channels', 'plugins'] as const;

/**
 * The parts of a new configuration that a running process can apply. Connections, secrets and the list of agents stay
 * as they were; models, thresholds, prompts, personas and all other agent settings change at the agent's next turn.
 */
export function planChange(running: Config, next: Config): ConfigChange {
  const waiting: string[] = FIXED.filter((name) => !isDeepStrictEqual(running[name], next[name]));
  if (!isDeepStrictEqual(idsOf(running), idsOf(next))) waiting.push('agents (added or removed)');
  const { storage, queue, log, operations, inspector, providers, channels, plugins } = running;
  const agents = running.agents.map((agent) => next.agents.find(({ id }) => id === agent.id) ?? agent);
  const main = defaultIn(next, agents) ?? defaultIn(running, agents);
  const config: Config = {
    ...next,
    agents: agents.map((agent) => ({ ...agent, default: agent.id === main })),
    storage,
    queue,
    log,
    operations,
    inspector,
    providers,
    channels,
    plugins,
  };
  return { config, changed: !isDeepStrictEqual(config, running), waiting };
}

function idsOf(config: Config): readonly string[] {
  return config.agents.map((agent) => agent.id).sort();
}

/** The new default may be an agent that only exists after a restart. */
function defaultIn(config: Config, agents: Config['agents']): string | null {
  const id = config.agents.find((agent) => agent.default)?.id;
  return agents.find((agent) => agent.id === id)?.id ?? null;
}
