import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { ask } from '../../support/postgres-schema.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, startRedis } from '../../support/redis-server.ts';

/** Jobs of other programs, of older versions, or damaged ones. */

const SOON = { timeout: 30_000, interval: 200 };
const redis = await findRedis();
const postgres = await findPostgres();

describe('a malformed job on Redis', { timeout: 60_000 }, () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);

  it('is reported with its reason, and holds up nothing', async () => {
    await using server = await startRedis(redis);
    await using place = openPlace(server.url);
    const admin = new Redis(server.url).on('error', () => undefined);
    const fields = {
      name: 'maintain',
      timestamp: `${Date.now()}`,
      data: '{"conversationId":5}',
      opts: '{"attempts":3}',
    };
    const bad = {
      older: { ...fields, data: '{"conversation":"discord:1:2"}' },
      text: { ...fields, data: '"hello"' },
      fraction: { ...fields, data: '{"conversationId":1.5}' },
      cut: { ...fields, data: '{"conversationId":' },
      bytes: { ...fields, data: Buffer.from([0xff, 0]) },
      options: { ...fields, opts: 'null' },
      progress: { ...fields, progress: '{' },
    };
    for (const [id, job] of Object.entries(bad)) {
      await admin.hset(`{strata}:maintenance-tests:${id}`, job);
      await admin.lpush('{strata}:maintenance-tests:wait', id);
    }
    await admin.lpush('{strata}:maintenance-tests:wait', 'missing');
    place.work();
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.done).toContain(1), SOON);
    await vi.waitFor(() => expect(place.malformed()).toEqual([...Object.keys(bad), 'missing'].toSorted()), SOON);
    expect(place.logged.find(({ jobId }) => jobId === 'older')?.reason).toMatch(/conversationId: .*expected number/u);
    expect(place.logged.find(({ jobId }) => jobId === 'cut')?.reason).toContain('expected object');
    await vi.waitFor(() => expect(place.queue.stats()).toMatchObject({ waiting: 0, delayed: 0, running: 0 }), SOON);
    expect(await admin.llen('{strata}:maintenance-tests:active')).toBe(0);
    expect(place.done).toEqual([1]);
    admin.disconnect();
  });
});

describe('a malformed job on Postgres', { timeout: 60_000 }, () => {
  if (postgres.kind === 'missing') return it.skip(`skipped: ${postgres.reason}`);

  it('is reported with its reason, and holds up nothing', async () => {
    await using server = await startPostgres(postgres);
    await using place = openPlace(server.url);
    for (let id = 1; id <= 4; id += 1) place.queue.kick(id);
    await vi.waitFor(async () => expect(await ask(server.url, 'select id from bullmq.job')).toHaveLength(4), SOON);
    const change = (id: number, set: string) =>
      ask(server.url, `update bullmq.job set ${set} where data->>'conversationId' = '${id}' returning id`);
    const changed = [
      ...(await change(1, `data = '{"conversation":"discord:1:2"}'`)),
      ...(await change(2, `data = '"hello"'`)),
      ...(await change(3, `data = 'null'`)),
    ];
    place.work();
    await vi.waitFor(() => expect(place.done).toEqual([4]), SOON);
    await vi.waitFor(() => expect(place.malformed()).toEqual(changed.map(({ id }) => `${id}`).toSorted()), SOON);
    await vi.waitFor(() => expect(place.queue.stats()).toMatchObject({ waiting: 0, delayed: 0, running: 0 }), SOON);
  });
});

function openPlace(url: string) {
  const done: number[] = [];
  const logged: Record<string, unknown>[] = [];
  const warn = (message: string, fields?: Record<string, unknown>) => {
    if (message === 'queue.malformed') logged.push(fields ?? {});
  };
  const log = { debug() {}, info() {}, warn, error() {} };
  const queue = createBullMqQueue({ url, storage: { upkeep: { id: 'tests' } }, log, onTrouble: () => undefined });
  const { signal } = new AbortController();
  return {
    queue,
    done,
    logged,
    malformed: () => logged.map(({ jobId }) => String(jobId)).toSorted(),
    work: () => queue.process(async (id) => void done.push(id), { concurrency: 2, signal }),
    [Symbol.asyncDispose]: () => queue.close({ deadlineMs: 0 }),
  };
}
