import { Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import { z } from 'zod';
import type { Driver, DriverOptions, OpenQueue, ProducerListeners } from './driver.ts';
import { consumerOf, processorOf, producerOf, queueOptions, workerOptions } from './settings.ts';
import { isUnreadable, markUnreadable } from './unreadable.ts';

/** Always the same pause: growing pauses would leave workers idle long after Redis is back. */
const RECONNECT_MS = 1000;
/** The server is there but does not respond. */
const COMMAND_LIMIT_MS = 5000;
/**
 * A connection on which an answer is due and nothing arrives for longer is dead, although it is still open. A worker waits
 * for its next job for up to ten seconds.
 */
const SILENCE_MS = 15_000;
/** A connection that is being closed keeps the process alive no longer than this. */
const FAREWELL_MS = 200;

export function createRedisDriver({ url, prefix, name, retryDelayMs }: DriverOptions): Driver {
  // In braces, so that a cluster stores all keys of the queue in one place.
  const names = { prefix: `{${prefix}}` };
  const open = ({ onError, onReady }: ProducerListeners): OpenQueue => {
    const redis = connect(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: COMMAND_LIMIT_MS,
    });
    redis.on('error', onError);
    redis.on('ready', onReady);
    const queue = new Queue(name, { connection: redis, ...names, ...queueOptions });
    queue.on('error', onError);
    const close = async () => {
      redis.disconnect();
      await queue.close();
    };
    return { queue, close };
  };
  return {
    where: addressOf(url),
    open,
    produce: (listeners) => producerOf(open(listeners), retryDelayMs),
    consume(look, options) {
      const redis = connect(url, { maxRetriesPerRequest: null });
      redis.on('error', options.onError);
      const settings = { connection: redis, ...names, ...workerOptions(options) };
      const worker = new Worker(name, processorOf(look, options), settings);
      worker.on('error', (error) => {
        if (!isUnreadable(error)) options.onError(error);
        else void markUnreadable(redis, (name) => worker.toKey(name)).catch(options.onError);
      });
      return consumerOf(worker, () => redis.disconnect());
    },
  };
}

/** The server's own information, requested once. Rejects if it does not respond. */
export async function infoOf(url: string): Promise<ReadonlyMap<string, string>> {
  const info = await askOnce(url, (redis) => redis.info());
  const lines = info.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** Waits as a worker does, for a moment. Rejects if the server refuses that. */
export async function tryToWait(url: string, prefix: string): Promise<void> {
  await askOnce(url, (redis) => redis.bzpopmin(`{${prefix}}:doctor`, 0.01));
}

export async function removeKeys(url: string, keys: readonly string[]): Promise<void> {
  await askOnce(url, (redis) => redis.del(...keys));
}

async function askOnce<Answer>(url: string, ask: (redis: Redis) => Promise<Answer>): Promise<Answer> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: COMMAND_LIMIT_MS,
    commandTimeout: COMMAND_LIMIT_MS,
  });
  let failure: unknown = null;
  redis.on('error', (error) => {
    failure = error;
  });
  try {
    const answer = await ask(redis);
    // The database of the URL cannot be selected.
    if (failure !== null) throw failure;
    return answer;
  } catch (error) {
    throw failure ?? error;
  } finally {
    redis.disconnect();
  }
}

/** Without user and password from the URL. */
export function addressOf(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  const socket = searchParams.get('path');
  if (socket !== null) return `Redis at ${socket}`;
  return `Redis at ${hostname === '' ? 'localhost' : hostname}:${port === '' ? '6379' : port}`;
}

type Haste = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>;

function connect(url: string, options: Haste): Redis {
  const redis = new Redis(url, {
    ...options,
    retryStrategy: () => RECONNECT_MS,
    // After a failover, the address may lead to another server, while this connection still leads to the earlier one.
    reconnectOnError: (error) => error.message.includes('READONLY'),
    connectTimeout: COMMAND_LIMIT_MS,
    socketTimeout: SILENCE_MS,
    disconnectTimeout: FAREWELL_MS,
  });
  // If the database of the URL cannot be selected, the client would go on in database 0, with the jobs of another bot.
  return redis.on('error', (error) => void (failedSelect.safeParse(error).success && redis.disconnect(true)));
}

const failedSelect = z.looseObject({ command: z.looseObject({ name: z.literal('select') }) });
