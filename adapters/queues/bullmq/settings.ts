import type { JobsOptions, Processor, QueueOptions, WorkerOptions } from 'bullmq';
import { UnrecoverableError, WaitingError } from 'bullmq';
import { z } from 'zod';
import { faultText } from '../../../src/adapter-kit.ts';
import type { Consumer, ConsumerOptions, Look, OpenQueue, Producer } from './driver.ts';

const JOB_NAME = 'maintain';
const jobData = z.object({ conversationId: z.int() });

/** The part of BullMQ's worker that is used: the same on every backend. */
export interface JobWorker {
  waitUntilReady(): Promise<unknown>;
  pause(doNotWaitActive: boolean): Promise<void>;
  close(force?: boolean): Promise<void>;
  getBackend(): { close(force: boolean): Promise<void> };
}

/**
 * A killed worker's job becomes free when its lock expires, and is found by the second check afterwards: within ten
 * seconds.
 */
const LOCK_MS = 5000;
const STALLED_CHECK_MS = 2000;
/** Repeated crashes of workers are not the job's fault: the store counts failures, not the queue. */
const MAX_STALLS = 1000;
const ATTEMPTS = 5;
const KEEP_FAILED = { age: 7 * 24 * 60 * 60, count: 1000 };
/** After a failed fetch. BullMQ's own pause is 15 s. */
const FETCH_RETRY_MS = 1000;
const EVENTS_KEPT = 1000;

/**
 * One job waits or runs per conversation; a job added during a run starts afterwards. A job id would break
 * this, because the addition would be dropped silently.
 */
function jobOptions(conversationId: number, retryDelayMs: number): JobsOptions {
  return {
    deduplication: { id: String(conversationId), keepLastIfActive: true },
    attempts: ATTEMPTS,
    backoff: { type: 'exponential', delay: retryDelayMs, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail: KEEP_FAILED,
  };
}

export const queueOptions = { streams: { events: { maxLen: EVENTS_KEPT } } } satisfies Omit<QueueOptions, 'connection'>;

export function workerOptions({ concurrency }: ConsumerOptions): Omit<WorkerOptions, 'connection'> {
  return {
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLS,
    runRetryDelay: FETCH_RETRY_MS,
    // For jobs of other programs: ours say so themselves.
    removeOnFail: KEEP_FAILED,
  };
}

/** The function that BullMQ calls for a job. A malformed one fails for good, because it would never become better. */
export function processorOf(look: Look, { onMalformed }: Pick<ConsumerOptions, 'onMalformed'>): Processor {
  return async (job, token) => {
    const { success, data, error } = jobData.safeParse(job.data);
    if (!success) {
      const reason = error.issues.map(faultText).join(', ');
      onMalformed({ jobId: job.id ?? '', reason });
      throw new UnrecoverableError(`The job is malformed: ${reason}`);
    }
    await look(data.conversationId, {
      async giveBack() {
        await job.moveToWait(token);
        throw new WaitingError();
      },
    });
  };
}

/** A job that waits longer may have been lost on the server. */
const SUSPECT_MS = 5000;
const MAX_JOINED = 10_000;
const ALIVE: ReadonlySet<string> = new Set(['waiting', 'active', 'delayed', 'prioritized', 'waiting-children']);

/**
 * A server that evicts keys, or on which somebody deletes some, may know that a conversation has a job, and not the
 * job: every further one would join it and never run. So a job that others join for long is looked for.
 */
function createAdder(queue: OpenQueue['queue'], retryDelayMs: number): Producer['add'] {
  const joined = new Map<number, { readonly id: string; readonly since: number }>();
  const add = (conversationId: number) =>
    queue.add(JOB_NAME, { conversationId }, jobOptions(conversationId, retryDelayMs));
  return async (conversationId) => {
    const { id = '' } = await add(conversationId);
    const earlier = joined.get(conversationId);
    const isSame = earlier?.id === id;
    if (isSame && performance.now() - earlier.since < SUSPECT_MS) return;
    joined.delete(conversationId);
    const [oldest] = joined.keys();
    if (joined.size >= MAX_JOINED && oldest !== undefined) joined.delete(oldest);
    joined.set(conversationId, { id, since: performance.now() });
    if (!isSame || ALIVE.has(await queue.getJobState(id))) return;
    await queue.removeDeduplicationKey(String(conversationId));
    await add(conversationId);
  };
}

export function producerOf({ queue, close }: OpenQueue, retryDelayMs: number): Producer {
  return {
    ready: async () => void (await queue.waitUntilReady()),
    add: createAdder(queue, retryDelayMs),
    async counts() {
      const { waiting = 0, active = 0, delayed = 0 } = await queue.getJobCounts('waiting', 'active', 'delayed');
      return { waiting, active, delayed };
    },
    close,
  };
}

export function consumerOf(worker: JobWorker, release: () => void): Consumer {
  return {
    ready: async () => void (await worker.waitUntilReady()),
    pause: () => worker.pause(true),
    async close() {
      await worker.close();
      release();
    },
    async drop() {
      worker.close(true).catch(() => undefined);
      release();
      await worker.getBackend().close(true);
    },
  };
}
