import type { JobsOptions } from 'bullmq';

export interface DriverOptions {
  readonly url: string;
  readonly prefix: string;
  readonly retryDelayMs: number;
}

/** What the queue needs of BullMQ, the same on Redis and on Postgres. */
export interface Driver {
  /** For sentences: the kind of server and its address, without credentials. */
  readonly where: string;
  /** BullMQ's own queue, on a connection of its own. */
  open(listeners: ProducerListeners): OpenQueue;
  produce(listeners: ProducerListeners): Producer;
  consume(look: Look, options: ConsumerOptions): Consumer;
}

/** Runs when a worker has taken a job. `giveBack` puts the job back in line, for a process that is closing. */
export type Look = (conversationId: number, job: { giveBack(): Promise<never> }) => Promise<void>;

export interface OpenQueue {
  readonly queue: JobQueue;
  /** Lets go of everything, whatever the server does. */
  close(): Promise<void>;
}

/** BullMQ's queue, as far as it is used here: the same on every backend. */
export interface JobQueue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: { readonly conversationId: number }, options: JobsOptions): Promise<unknown>;
  getJobCounts(...types: ('waiting' | 'active' | 'delayed')[]): Promise<Readonly<Record<string, number>>>;
}

export interface ProducerListeners {
  readonly onError: (error: unknown) => void;
  /** The connection stands: for the first time, or again. */
  readonly onReady: () => void;
}

export interface ConsumerOptions {
  readonly concurrency: number;
  readonly onError: (error: unknown) => void;
}

/** The connection that jobs are added through: what it cannot do at once fails, so that nothing piles up behind it. */
export interface Producer {
  /** Settles when the first connection stands; pending as long as that takes. After a rejection another one is made. */
  ready(): Promise<void>;
  add(conversationId: number): Promise<void>;
  counts(): Promise<Counts>;
  /** Lets go of everything, whatever the server does. */
  close(): Promise<void>;
}

export interface Counts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

export interface Consumer {
  ready(): Promise<void>;
  /** Takes no more jobs; those that run go on. */
  pause(): Promise<void>;
  /** Waits for what runs. Never settles while the server is away. */
  close(): Promise<void>;
  /** Lets go of everything: jobs that run are seen as stalled by another worker, later. */
  drop(): Promise<void>;
}
