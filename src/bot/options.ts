import type { CommandDefinition } from '../commands/custom/define.ts';
import type { AgentDirectory } from '../config/directory.ts';
import type { AgentEntry } from '../config/schema.ts';
import type { PriceOptions } from '../costs/prices.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Channel } from '../ports/channel.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { ContextEngine } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import type { KnownProviders, ModelProvider } from '../ports/model.ts';
import type { Queue } from '../ports/queue.ts';
import type { Reranker } from '../ports/reranker.ts';
import type { PromptLibrary } from '../prompts/variables.ts';
import type { Storage } from '../services.ts';
import type { Tool } from '../tools/define.ts';

/** The options of `createBot`. Everything optional has a working default. */
export interface BotOptions {
  /** Keeps everything durable, such as `createSqliteStorage`. `stop` closes it. */
  readonly storage: Storage;
  /** Starts work in the background, such as `createLocalQueue`. `stop` closes it. */
  readonly queue: Queue;
  /** Without `providers`, it may open models of any name. */
  readonly models: ModelProvider & Partial<KnownProviders>;
  /** Prices of model calls, for `/status`, `strata cost` and metrics. Default: prices are unknown. */
  readonly prices?: PriceOptions;
  /** For agents with a `rerank_model`. Default: none, and these agents rank by words alone. */
  readonly reranker?: Reranker;
  /** One per platform. A bot without channels is used through its `sink`. */
  readonly channels?: readonly Channel[];
  /**
   * Settings that differ from the defaults at any depth, one object per agent; or a directory that reads them from
   * elsewhere. The first agent serves conversations that no route matches, unless another one has `default`.
   */
  readonly agents?: readonly AgentEntry[] | AgentDirectory;
  /** Custom tools, in addition to the built-in ones. An agent can call the ones listed in its `tools`. */
  readonly tools?: readonly Tool[];
  /** Custom commands, in addition to the built-in ones. */
  readonly commands?: readonly CommandDefinition[];
  /** Custom context engines, by the name that agents use in `engine`. */
  readonly engines?: Readonly<Record<string, ContextEngine>>;
  /** Middleware around messages, model calls, tool calls, posts, summaries and memories. The first is the outermost. */
  readonly hooks?: readonly Hooks[];
  /** Default: the prompts of the package, and the folders that agents name. */
  readonly prompts?: PromptLibrary;
  /** Default: warnings and errors go to standard error; `silentLog` writes nothing. */
  readonly log?: Log;
  /** For tests. Default: the clock of the system. */
  readonly clock?: Clock;
  /** For tests. Default: random ids and numbers. */
  readonly random?: Random;
  /**
   * `gateway` talks to people, `worker` summarises and remembers. Each needs the other in another process, with a store
   * and a queue that both share. Default `all`.
   */
  readonly role?: ProcessRole;
  /** Number of conversations maintained concurrently. Default 4. */
  readonly workers?: number;
  /** Entries older than this are deleted. A function is read each time. Default 0: never. */
  readonly retentionDays?: number | (() => number);
  /** Log the text of messages and replies. Default false. */
  readonly logText?: boolean;
  /** Where data is stored, for `/privacy`. */
  readonly dataLocation?: string;
  /** The address of a conversation in the inspector, for `/status` and `/context`; null if people cannot open it. */
  readonly inspectorLink?: (conversation: ConversationKey) => string | null;
  /** One sentence if the configuration on disk is invalid and an older one is in use. */
  readonly configTrouble?: () => string | null;
}

/** What one process of a bot does. */
export type ProcessRole = 'gateway' | 'worker' | 'all';

export const PROCESS_ROLES = ['gateway', 'worker', 'all'] as const satisfies readonly ProcessRole[];
