import { randomUUID } from 'node:crypto';
import { endsWithin } from '../../../src/adapter-kit.ts';
import { createRedisDriver, removeKeys } from './redis.ts';

const LIMIT_MS = 5000;
const CONVERSATION = 1;
/** What BullMQ keeps of the queue, also of a job that was refused halfway. */
const LEFTOVERS = [
  ...['meta', 'id', 'events', 'marker', 'stalled-check', 'wait', 'active', 'failed'],
  ...['1', '1:lock', `de:${CONVERSATION}`],
];

/** Sends one job through a queue of its own, as gateways and workers do. Rejects with what the server refuses. */
export async function tryJob(url: string, prefix: string): Promise<void> {
  const name = `doctor-${randomUUID()}`;
  const driver = createRedisDriver({ url, prefix, name, retryDelayMs: 0 });
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => undefined);
  const producer = driver.produce({ onError: done.reject, onReady: () => undefined });
  const consumer = driver.consume(async () => done.resolve(), {
    concurrency: 1,
    onError: done.reject,
    onMalformed: ({ reason }) => done.reject(new Error(reason)),
  });
  try {
    const add = async () => {
      await producer.ready();
      await producer.add(CONVERSATION);
      await done.promise;
    };
    if (!(await endsWithin(add(), LIMIT_MS))) throw new Error(`a job did not run within ${LIMIT_MS / 1000} s`);
    await consumer.close();
  } finally {
    await consumer.drop().catch(() => undefined);
    await producer.close();
    await removeKeys(
      url,
      LEFTOVERS.map((key) => `{${prefix}}:${name}:${key}`),
    ).catch(() => undefined);
  }
}
