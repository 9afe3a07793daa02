import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { z } from 'zod';
import type { StrataError } from '../domain/errors.ts';
import type { ConversationKey } from '../domain/message.ts';
import type { Channel } from '../ports/channel.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { StateStore } from '../ports/journal.ts';
import type { Log } from '../ports/log.ts';
import type { ChatModel, ModelProvider } from '../ports/model.ts';
import type { Queue } from '../ports/queue.ts';
import type { Finding } from '../ports/upkeep.ts';
import type { Services, Storage } from '../services.ts';
import type { Role } from './parts.ts';

/** What can be plugged in, by name. Nothing is loaded before it is asked for. */
export interface Adapters {
  /** By the name of their section: `[channels.NAME]`. */
  readonly channels: Registry<ChannelAdapter>;
  /** By the scheme of the queue's URL; `local` without one. */
  readonly queues: Registry<QueueAdapter>;
  /** By the scheme of the store's URL; `sqlite` without one. */
  readonly stores: Registry<(options: StoreOptions) => Promise<Storage>>;
  readonly models: () => Promise<(options: ModelsOptions) => ModelProvider>;
  /** Models that need no provider, by the name that their ids begin with; called with the rest of the id. */
  readonly builtInModels: Readonly<Record<string, (model: string) => Promise<ChatModel>>>;
  readonly log: () => Promise<(options: LogOptions) => Log>;
  readonly operations: () => Promise<(options: OperationsOptions) => Promise<Operations>>;
}

export type Registry<Adapter> = Readonly<Record<string, () => Promise<Adapter>>>;

/** A platform: the schema of its section, and the way to a channel. SDKs are imported when something is asked of it. */
export interface ChannelAdapter {
  /** Schema of `[channels.NAME]`. */
  readonly settings: z.ZodType;
  /** `settings` is the table as it stands; the adapter parses it, so that its own type holds inside. */
  create(settings: unknown, context: ChannelContext): Promise<Channel>;
  /** Tokens, rights, registrations: what must hold for the platform to work, for `strata doctor`. */
  check(settings: unknown, context: ChannelContext): Promise<readonly Finding[]>;
  /** Sub-commands of the CLI: `strata PLATFORM NAME`. */
  readonly tasks: readonly ChannelTask[];
}

export interface ChannelContext {
  readonly log: Log;
  readonly state: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly terminal: TerminalContext;
  /** Told when a running channel was refused for good, by a withdrawn token for example: it can do nothing any more. */
  readonly onRefused: (error: StrataError) => void;
}

export interface ChannelTask {
  readonly name: string;
  readonly description: string;
  /** Gives the text to print. Opens nothing, so it can run while a bot is running. */
  run(settings: unknown): Promise<string>;
}

/** The process's own terminal, for the channel that speaks through it. */
export interface TerminalContext {
  readonly input: Readable;
  readonly output: Writable;
  readonly errors: Writable;
  readonly isTTY: boolean;
  readonly color: boolean;
  readonly user: string;
  readonly conversation: ConversationKey | null;
  readonly notices: Notices;
  /** Told once, when the user left or the input ended. */
  readonly onEnd: (end: TerminalEnd) => void;
}

/** What a person should know beside the conversation itself. */
export interface Notices {
  listen(listener: (notice: Notice) => void): void;
}

export interface Notice {
  /** `trouble`: a reply failed, said once until one succeeds. `progress`: what becomes of a conversation. */
  readonly kind: 'trouble' | 'progress';
  readonly conversation: ConversationKey | null;
  readonly text: string;
}

export interface TerminalEnd {
  /** Lines that were refused or could not be sent. */
  readonly failures: number;
}

/** A kind of queue. Its server is asked for nothing before something is asked of the queue. */
export interface QueueAdapter {
  create(options: QueueOptions): Queue;
  /** Version, safety and rights of its server, for `strata doctor`. */
  check(url: string): Promise<readonly Finding[]>;
  /** Pages that show its jobs, for reading only; null where it has none. */
  readonly openBoard: BoardOpener | null;
}

export interface QueueOptions {
  readonly url: string;
  readonly log: Log;
  readonly onTrouble: (message: string) => void;
}

/** Rejects when the queue's server does not answer in time. `path` is what the addresses of the pages begin with. */
export type BoardOpener = (options: { readonly url: string; readonly path: string }) => Promise<Board>;

export interface Board {
  /** Answers a GET whose URL is relative to the board's path. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Of the embedded store. */
  readonly directory: string;
  /** Of the server; empty for the embedded store. */
  readonly url: string;
  /** Several processes of this machine use it at the same time. */
  readonly shared: boolean;
  /** False throws `STORE_MISSING` where there is no data yet. */
  readonly create: boolean;
}

export interface ModelsOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly providers: Readonly<Record<string, { readonly baseUrl: string; readonly apiKey?: string }>>;
  readonly builtIn: Adapters['builtInModels'];
  readonly log: Log;
}

export interface OperationsOptions {
  readonly services: Services;
  readonly role: Role;
  /** `host:port`. Port 0 takes one that is free. */
  readonly listen: string;
  readonly log: Log;
  /** Opens the pages of the queue; null where it has none. */
  readonly openBoard: ((path: string) => Promise<Board>) | null;
}

/** What those who look after the process ask it. */
export interface Operations {
  readonly url: string;
  close(): Promise<void>;
}

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly secrets: readonly string[];
  readonly output: { write(line: string): unknown; readonly isTTY?: boolean | undefined };
}
