import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { createBullMqQueue } from '../../adapters/queues/bullmq/index.ts';
import { findRedis, startRedis } from '../support/redis-server.ts';

/** What happens on the Redis of an operator while a bot runs. */

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const redis = await findRedis();
const SOON = { timeout: 20_000, interval: 200 };

describe('a queue on Redis', { timeout: 60_000 }, () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);

  it('reports a full server for as long as it lasts', async () => {
    await using server = await startRedis(redis);
    const admin = new Redis(server.url);
    await using place = openPlace(server.url);
    await admin.config('SET', 'maxmemory', '1mb');
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.queue.stats().trouble).toContain('OOM'), SOON);
    for (let look = 0; look < 60; look += 1) {
      expect(place.queue.stats().trouble).toContain('OOM');
      await sleep(50);
    }
    await admin.config('SET', 'maxmemory', '0');
    await vi.waitFor(() => expect(place.queue.stats()).toMatchObject({ trouble: null, waiting: 1 }), SOON);
    admin.disconnect();
  });
});

function openPlace(url: string) {
  const done: number[] = [];
  const queue = createBullMqQueue({ url, log: silent, onTrouble: () => undefined });
  const { signal } = new AbortController();
  return {
    queue,
    done,
    work: () => queue.process(async (id) => void done.push(id), { concurrency: 2, signal }),
    [Symbol.asyncDispose]: () => queue.close({ deadlineMs: 0 }),
  };
}
