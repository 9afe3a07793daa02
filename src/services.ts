import type { AgentDirectory } from './config/directory.ts';
import type { Prices } from './costs/prices.ts';
import type { Author, ConversationKey } from './domain/message.ts';
import type { HookRunner } from './hooks/runner.ts';
import type { Channel } from './ports/channel.ts';
import type { Clock, Random } from './ports/clock.ts';
import type { Events } from './ports/events.ts';
import type { StateStore } from './ports/journal.ts';
import type { Log } from './ports/log.ts';
import type { ModelProvider } from './ports/model.ts';
import type { ProvenanceStore } from './ports/provenance-store.ts';
import type { Queue } from './ports/queue.ts';
import type { Reranker } from './ports/reranker.ts';
import type { Search } from './ports/search.ts';
import type { Store } from './ports/store.ts';
import type { Upkeep } from './ports/upkeep.ts';
import type { PromptLibrary } from './prompts/variables.ts';

/** What a storage adapter provides: one engine behind five ports. */
export interface Storage {
  readonly store: Store;
  readonly search: Search;
  readonly state: StateStore;
  readonly provenance: ProvenanceStore;
  readonly upkeep: Upkeep;
}

/**
 * The dependencies of every part of the core. Nothing in the core creates its own clock, randomness, log or connection.
 */
export interface Services extends Omit<Storage, 'upkeep'> {
  readonly queue: Queue;
  readonly models: ModelProvider;
  readonly prices: Prices;
  /** For agents with a `rerank_model`. */
  readonly reranker: Reranker | null;
  readonly agents: AgentDirectory;
  readonly prompts: PromptLibrary;
  readonly hooks: HookRunner;
  readonly events: Events;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The channels by platform, for posting. */
export type Channels = ReadonlyMap<string, Channel>;

/** Receives every message and reply. Writes them to the log, or does nothing (the default). */
export type TextLog = (conversation: ConversationKey, author: Author | null, text: string) => void;
