import { channelOf } from '../domain/key.ts';
import type { ConversationKey } from '../domain/message.ts';
import { MINUTE_MS } from '../util/time/time.ts';
import { withOverrides } from './checks.ts';
import type { AgentSettings, Config } from './schema.ts';

/** Which agent serves a conversation, with the overrides of the matching route applied. Read for every turn. */
export interface AgentDirectory {
  agentFor(conversation: ConversationKey): AgentSettings;
  /** By id; null if it is not configured. */
  agent(id: string): AgentSettings | null;
  list(): readonly AgentSettings[];
}

/** The models that an agent replies with, in the order in which they are tried. */
export function modelsOf({ model }: Pick<AgentSettings, 'model'>): readonly [string, ...string[]] {
  if (typeof model === 'string') return [model];
  const [first = 'auto', ...others] = model;
  return [first, ...others];
}

/** How long a conversation must be silent before its messages are read for memories. */
export function idleMsOf(agent: AgentSettings): number {
  return agent.compaction.idle_minutes * MINUTE_MS;
}

type Route = AgentSettings['routes'][number];

interface Rule {
  readonly agent: AgentSettings;
  /** The parts of the pattern between its stars. */
  readonly parts: readonly string[];
  /** Number of characters in the pattern other than `*`: the more, the more specific. */
  readonly weight: number;
}

interface Book {
  readonly config: Pick<Config, 'agents'>;
  readonly rules: readonly Rule[];
  readonly main: AgentSettings;
}

/**
 * Selects the agent of a conversation. A pattern names a whole key, `*` matches anything, and a pattern for a channel
 * also matches its threads. The most specific match wins (most characters other than `*`), and among equals the first
 * in the file. Without a match the default agent serves. `config` is called each time.
 */
export function createAgentDirectory(config: () => Pick<Config, 'agents'>): AgentDirectory {
  let book = bookOf(config());
  const current = (): Book => {
    const now = config();
    if (now !== book.config) book = bookOf(now);
    return book;
  };
  return {
    agentFor(conversation) {
      const { rules, main } = current();
      return rules.find((rule) => serves(rule, conversation))?.agent ?? main;
    },
    agent: (id) => current().config.agents.find((agent) => agent.id === id) ?? null,
    list: () => current().config.agents,
  };
}

function bookOf(config: Pick<Config, 'agents'>): Book {
  const rules = config.agents.flatMap((agent) => agent.routes.map((route) => ruleOf(agent, route)));
  const main = config.agents.find((agent) => agent.default) ?? config.agents[0];
  if (!main) throw new TypeError('a configuration has at least one agent');
  return { config, main, rules: rules.sort((a, b) => b.weight - a.weight) };
}

function ruleOf(agent: AgentSettings, route: Route): Rule {
  return {
    agent: {
      ...agent,
      mode: route.mode ?? agent.mode,
      compaction: withOverrides(agent.compaction, route.compaction ?? {}),
    },
    parts: route.match.split('*'),
    weight: route.match.replaceAll('*', '').length,
  };
}

function serves(rule: Rule, conversation: ConversationKey): boolean {
  return matches(rule.parts, conversation) || matches(rule.parts, channelOf(conversation));
}

/** Matches each part at its first occurrence; a later one could not match more. */
function matches(parts: readonly string[], key: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return key === first;
  if (!key.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = key.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return key.length - last.length >= from && key.endsWith(last);
}
