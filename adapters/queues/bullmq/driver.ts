import type { JobsOptions } from 'bullmq';

export interface DriverOptions {
  readonly url: string;
  readonly prefix: string;
  /** Another one for every store. */
  readonly name: string;
  readonly retryDelayMs: number;
}

/** What the queue needs from BullMQ, the same on Redis and on Postgres. */
export interface Driver {
  /** For messages: the kind of server and its address, without credentials. */
  readonly where: string;
  /** BullMQ's own queue, on a separate connection. */
  open(listeners: ProducerListeners): OpenQueue;
  produce(listeners: ProducerListeners): Producer;
  consume(look: Look, options: ConsumerOptions): Consumer;
}

/** Called when a worker has taken a job. `giveBack` returns the job to the queue, for a process that is closing. */
export type Look = (conversationId: number, job: { giveBack(): Promise<never> }) => Promise<void>;

export interface OpenQueue {
  readonly queue: JobQueue;
  /** Closes everything, whatever the state of the server. */
  close(): Promise<void>;
}

/** The part of BullMQ's queue that is used: the same on every backend. */
export interface JobQueue {
  waitUntilReady(): Promise<unknown>;
  /** Returns the job that was added, or the one that waits or runs already. */
  add(name: string, data: { readonly conversationId: number }, options: JobsOptions): Promise<{ readonly id?: string }>;
  isPaused(): Promise<boolean>;
  getJobState(id: string): Promise<string>;
  removeDeduplicationKey(id: string): Promise<unknown>;
  getJobCounts(...types: ('waiting' | 'active' | 'delayed')[]): Promise<Readonly<Record<string, number>>>;
}

export interface ProducerListeners {
  readonly onError: (error: unknown) => void;
  /** Connected, for the first time or again. */
  readonly onReady: () => void;
}

export interface ConsumerOptions {
  readonly concurrency: number;
  readonly onError: (error: unknown) => void;
  /** A job of another program, of another version, or a damaged one. It has failed. */
  readonly onMalformed: (job: Malformed) => void;
}

export interface Malformed {
  readonly jobId: string;
  readonly reason: string;
}

/** The connection for adding jobs. Calls fail if they cannot run at once, so that nothing piles up. */
export interface Producer {
  /** Settles with the first connection, and stays pending until then. After a rejection another attempt starts. */
  ready(): Promise<void>;
  add(conversationId: number): Promise<void>;
  counts(): Promise<Counts>;
  /** Closes everything, whatever the state of the server. */
  close(): Promise<void>;
}

export interface Counts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

export interface Consumer {
  ready(): Promise<void>;
  /** Takes no more jobs; running ones continue. */
  pause(): Promise<void>;
  /** Waits for running jobs. Never settles while the server is unreachable. */
  close(): Promise<void>;
  /** Closes everything. Another worker will later detect the running jobs as stalled. */
  drop(): Promise<void>;
}
