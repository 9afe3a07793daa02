import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { z } from 'zod';
import type { Config } from '../config/schema.ts';
import type { StrataError } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Inspection } from '../inspection/inspection.ts';
import type { Channel } from '../ports/channel.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { CommandSpec } from '../ports/command.ts';
import type { StateStore } from '../ports/journal.ts';
import type { Log, LogLevel } from '../ports/log.ts';
import type { ChatModel, KnownProviders, ModelProvider } from '../ports/model.ts';
import type { PriceList } from '../ports/prices.ts';
import type { Queue } from '../ports/queue.ts';
import type { Reranker } from '../ports/reranker.ts';
import type { Finding, Upkeep } from '../ports/upkeep.ts';
import type { Services, Storage } from '../services.ts';
import type { ProcessRole } from './options.ts';

/** All adapters by name. Each is loaded on first use. */
export interface Adapters {
  /** By the name of their section: `[channels.NAME]`. */
  readonly channels: Registry<ChannelAdapter>;
  /** By the scheme of the queue's URL; `local` without one. */
  readonly queues: Registry<QueueAdapter>;
  /** By the scheme of the store's URL; `sqlite` without one. */
  readonly stores: Registry<OpenStore>;
  readonly models: () => Promise<(options: ModelsOptions) => ModelProvider & KnownProviders>;
  /** Models without a provider, by the first part of their id; called with the rest of the id. */
  readonly builtInModels: Readonly<Record<string, OpenModel>>;
  /** The price list for models without a configured price. */
  readonly prices: () => Promise<() => PriceList>;
  /** For agents with a `rerank_model`. */
  readonly reranker: () => Promise<(options: Pick<ModelsOptions, 'providers'>) => Reranker>;
  readonly log: () => Promise<(options: LogOptions) => Log>;
  readonly operations: () => Promise<(options: OperationsOptions) => Promise<Operations>>;
  readonly inspector: () => Promise<(options: InspectorOptions) => Promise<Operations>>;
}

/** Adapters by name, each loaded on first use. */
export type Registry<Adapter> = Readonly<Record<string, () => Promise<Adapter>>>;

/** A platform: the schema of its section and a way to create the channel. SDKs are imported on first use. */
export interface ChannelAdapter {
  /** Schema of `[channels.NAME]`. */
  readonly settings: z.ZodType;
  /** `settings` is the unparsed table; the adapter parses it to get its own type. */
  create(settings: unknown, context: ChannelContext): Promise<Channel>;
  /** Checks of tokens, permissions and registrations for `strata doctor`. */
  check(settings: unknown, context: ChannelContext): Promise<readonly Finding[]>;
  /** Sub-commands of the CLI: `strata PLATFORM NAME`. */
  readonly tasks: readonly ChannelTask[];
}

/** What an adapter gets to create its channel. */
export interface ChannelContext {
  readonly log: Log;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly terminal: TerminalContext;
  /** The commands of the bot, for platforms that register them. */
  readonly commandSpecs: readonly CommandSpec[];
  /** Called when the platform permanently refuses a running channel, for example after its token was revoked. */
  readonly onRefused: (error: StrataError) => void;
}

/** A command of the command line that belongs to a channel, such as `strata slack manifest`. */
export interface ChannelTask {
  readonly name: string;
  readonly description: string;
  /** False if it works before the app exists: missing variables of credentials are then no problem. Default: true. */
  readonly needsSecrets?: boolean;
  /** Returns the text to print. Opens nothing, so it can run while a bot is running. */
  run(settings: unknown, context: Pick<ChannelContext, 'commandSpecs'>): Promise<string>;
}

/** The terminal of the process, for the terminal channel. */
export interface TerminalContext {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
  readonly isTTY: boolean;
  readonly color: boolean;
  readonly user: string;
  readonly conversation: ConversationKey | null;
  readonly notices: Notices;
  /** Called once, when the user left or the input ended. */
  readonly onEnd: (end: TerminalEnd) => void;
}

/** Notices for the user, shown next to the conversation. */
export interface Notices {
  listen(listener: (notice: Notice) => void): void;
}

/** What the user of the terminal reads besides replies. */
export interface Notice {
  /**
   * `trouble`: a reply failed; reported once until one succeeds. `settings`: a change of the configuration does not apply.
   * `progress`: something happened to a conversation.
   */
  readonly kind: 'trouble' | 'settings' | 'progress';
  readonly conversation: ConversationKey | null;
  readonly text: string;
}

/** How a session in the terminal ended. */
export interface TerminalEnd {
  /** Number of lines that were rejected or could not be sent. */
  readonly failures: number;
}

/** A kind of queue. Connects to its server on first use. */
export interface QueueAdapter {
  create(options: QueueOptions): Queue;
  /** Checks version, durability and permissions of its server, for `strata doctor`. */
  check(place: QueuePlace): Promise<readonly Finding[]>;
  /** Read-only pages that show its jobs; null if it has none. */
  readonly openBoard: BoardOpener | null;
}

/** The server of a queue, and the store whose jobs it carries. */
export interface QueuePlace {
  readonly url: string;
  /** Processes share jobs only if they share this store. */
  readonly storage: { readonly upkeep: Pick<Upkeep, 'id'> };
}

/** The section `[queue]`, and where a queue reports failures. */
export interface QueueOptions extends QueuePlace {
  readonly log: Log;
  /** Call it with one sentence when the server or a handler fails, but not for every repetition. */
  readonly onTrouble: (message: string) => void;
}

/** Rejects if the queue's server does not answer in time. `path` is the prefix of the pages' URLs. */
export type BoardOpener = (options: QueuePlace & { readonly path: string }) => Promise<Board>;

/** Pages that show the jobs of a queue. */
export interface Board {
  /** Answers a GET whose URL is relative to the board's path. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

/** The section `[storage]`, and how the process uses the store. */
export interface StoreOptions {
  /** Directory of the embedded store. */
  readonly directory: string;
  /** URL of the server; empty for the embedded store. */
  readonly url: string;
  /** Whether several processes of this machine use the store at the same time. */
  readonly shared: boolean;
  /** False throws `STORE_MISSING` if there is no data yet. */
  readonly create: boolean;
}

/** Opens a model by what follows the first colon of its id: `small` for `acme:small`. */
export type OpenModel = (model: string) => Promise<ChatModel>;

/** Opens a store, and creates its tables if `create` allows it. */
export type OpenStore = (options: StoreOptions) => Promise<Storage>;

/** Where models are found: keys in the environment, servers in `[providers]`. */
export interface ModelsOptions {
  /** The variables of the process, such as `OPENAI_API_KEY`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By the first part of model ids. An empty `baseUrl` means the URL of the provider. */
  readonly providers: Readonly<Record<string, { readonly baseUrl: string; readonly apiKey?: string }>>;
  readonly builtIn: Adapters['builtInModels'];
  readonly log: Log;
}

/** What the server of `/livez`, `/readyz` and `/metrics` needs. */
export interface OperationsOptions {
  readonly services: Services;
  readonly role: ProcessRole;
  /** `host:port`. Port 0 picks a free one. */
  readonly listen: string;
  readonly log: Log;
  /** Opens the pages of the queue; null if it has none. */
  readonly openBoard: ((path: string) => Promise<Board>) | null;
}

/** What the server of the inspector needs. */
export interface InspectorOptions {
  /** The section `[inspector]`. */
  readonly settings: Config['inspector'];
  /** Called once, at the first request. */
  readonly open: () => Promise<Inspection>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A server of this process. */
export interface Operations {
  /** The inspector's URL includes its key. */
  readonly url: string;
  close(): Promise<void>;
}

/** The section `[log]`, and where the lines go. */
export interface LogOptions {
  readonly level: LogLevel;
  /** Values that must not appear anywhere in a line. */
  readonly secrets: readonly string[];
  readonly output: LogOutput;
}

/** Takes whole lines, each with its line break, as `process.stdout` does. */
export interface LogOutput {
  write(line: string): unknown;
  readonly isTTY?: boolean | undefined;
}
