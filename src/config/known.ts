import { didYouMean } from '../util/text/did-you-mean.ts';

/** The names that agents can use in code and in the file: the built-in ones, and those a program adds. */
export interface AgentNames {
  readonly tools: readonly string[];
  readonly engines: readonly string[];
}

/** The names that the configuration file can use. */
export interface KnownNames extends AgentNames {
  /** The first parts of model ids. */
  readonly providers: readonly string[];
  /** Schemes of the store's URL. */
  readonly stores: readonly string[];
}

/** The context engines that come with Strata. A forecast supports only these. */
export const BUILT_IN_ENGINES = ['stacked', 'sliding'] as const;
export type BuiltInEngine = (typeof BUILT_IN_ENGINES)[number];

export function isBuiltInEngine(name: string): name is BuiltInEngine {
  return BUILT_IN_ENGINES.some((engine) => engine === name);
}

/** The engine of agents that name none, or one that does not exist. */
export const DEFAULT_ENGINE = 'stacked' satisfies BuiltInEngine;

/** Whether the agent's engine only drops old messages. Custom engines count as engines that summarise them. */
export function dropsOldest(agent: { readonly engine: string } | null): boolean {
  return agent?.engine === ('sliding' satisfies BuiltInEngine);
}

export const builtInNames: KnownNames = {
  tools: ['memory_save', 'memory_recall', 'transcript_search', 'summary_open', 'blob_read', 'message_open'],
  engines: BUILT_IN_ENGINES,
  providers: ['anthropic', 'openai', 'google', 'openrouter', 'ollama', 'offline'],
  stores: ['postgres', 'postgresql'],
};

/** The names in `adapters/registry.ts`. The embedded store is selected without a URL. */
export const BUILT_IN_STORES: readonly string[] = ['sqlite', ...builtInNames.stores];
export const BUILT_IN_CHANNELS: readonly string[] = ['discord', 'slack', 'terminal'];

/** `there is no tool "memory_sav"; did you mean memory_save?`. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = didYouMean(name.slice(0, MAX_SHOWN), known);
  const hint = meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`;
  return `there is no ${kind} ${JSON.stringify(name.slice(0, MAX_SHOWN))}; ${hint}`;
}

const MAX_SHOWN = 40;
