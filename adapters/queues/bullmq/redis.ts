import { Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { Driver } from './driver.ts';
import { consumerOf, processorOf, producerOf, queueOptions, workerOptions } from './settings.ts';

export interface RedisDriverOptions {
  readonly url: string;
  readonly prefix: string;
  readonly retryDelayMs: number;
}

const QUEUE_NAME = 'maintenance';
/** Always the same pause: a growing one leaves workers idle long after Redis is back. */
const RECONNECT_MS = 1000;
/** A server that is there but silent. */
const COMMAND_LIMIT_MS = 5000;
/** A connection that is given up keeps the process no longer than this. */
const FAREWELL_MS = 200;

export function createRedisDriver({ url, prefix, retryDelayMs }: RedisDriverOptions): Driver {
  const { hostname, port } = new URL(url);
  // In braces, so that a cluster keeps all keys of the queue in one place.
  const names = { prefix: `{${prefix}}` };
  return {
    where: `Redis at ${hostname}:${port === '' ? '6379' : port}`,
    produce({ onError, onReady }) {
      const redis = connect(url, {
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        commandTimeout: COMMAND_LIMIT_MS,
      });
      redis.on('error', onError);
      redis.on('ready', onReady);
      const queue = new Queue(QUEUE_NAME, { connection: redis, ...names, ...queueOptions });
      queue.on('error', onError);
      return producerOf(queue, retryDelayMs, async () => {
        redis.disconnect();
        await queue.close();
      });
    },
    consume(look, options) {
      const redis = connect(url, { maxRetriesPerRequest: null });
      redis.on('error', options.onError);
      const settings = { connection: redis, ...names, ...workerOptions(options) };
      const worker = new Worker(QUEUE_NAME, processorOf(look), settings);
      worker.on('error', options.onError);
      return consumerOf(worker, () => redis.disconnect());
    },
  };
}

type Haste = Pick<RedisOptions, 'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout'>;

function connect(url: string, options: Haste): Redis {
  return new Redis(url, {
    ...options,
    retryStrategy: () => RECONNECT_MS,
    connectTimeout: COMMAND_LIMIT_MS,
    disconnectTimeout: FAREWELL_MS,
  });
}
