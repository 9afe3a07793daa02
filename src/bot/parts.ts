import type { AgentDirectory } from '../config/directory.ts';
import type { AgentEntry } from '../config/schema.ts';
import type { Channel } from '../ports/channel.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { ContextEngine } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Queue } from '../ports/queue.ts';
import type { PromptLibrary } from '../prompts/variables.ts';
import type { Storage } from '../services.ts';
import type { Tool } from '../tools/define.ts';

/** What a bot is made of. Everything optional has a working default. */
export interface BotParts {
  readonly storage: Storage;
  readonly queue: Queue;
  readonly models: ModelProvider;
  /** One a platform. None makes a bot that is talked to through its `sink`. */
  readonly channels?: readonly Channel[];
  /**
   * Settings that differ from the defaults at any depth, one object for each agent, or a directory that reads them from
   * elsewhere. The first agent serves what no route matches, unless another one has `default`.
   */
  readonly agents?: readonly AgentEntry[] | AgentDirectory;
  /** Your own tools, beside the built-in ones. An agent may call those that its `tools` name. */
  readonly tools?: readonly Tool[];
  /** Context engines of your own, by the name that an agent's `engine` gives. */
  readonly engines?: Readonly<Record<string, ContextEngine>>;
  readonly prompts?: PromptLibrary;
  /** Default: warnings and errors go to standard error; `silentLog` writes nothing. */
  readonly log?: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /**
   * Which half of the work this process does: `gateway` talks to people, `worker` summarises and remembers. The other half
   * needs a process of its own, and both a store and a queue that processes share. Default `all`.
   */
  readonly role?: Role;
  /** Conversations that are maintained side by side. Default 4. */
  readonly workers?: number;
  /** Entries older than this are deleted. Default 0: never. */
  readonly retentionDays?: number;
  /** Write the text of messages and replies to the log. Default false. */
  readonly logText?: boolean;
  /** Where everything is kept, for `/privacy`. */
  readonly dataLocation?: string;
  /** One sentence when the configuration on disk is broken and an older one is in use. */
  readonly configTrouble?: () => string | null;
}

export type Role = 'gateway' | 'worker' | 'all';
