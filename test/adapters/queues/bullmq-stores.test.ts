import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { type Storage, silentLog } from '../../../src/adapter-kit.ts';
import { findPostgres, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, startRedis, startRedisMock } from '../../support/redis-server.ts';
import { serverForSuite } from '../../support/suite-server.ts';

const SOON = { timeout: 20_000, interval: 50 };
const { signal } = new AbortController();

interface Store extends AsyncDisposable {
  readonly storage: Storage;
}

async function openStore(): Promise<Store> {
  // A copied store would be the same one.
  const directory = await mkdtemp(join(tmpdir(), 'strata-stores-'));
  const storage = await createSqliteStorage({ directory });
  return {
    storage,
    async [Symbol.asyncDispose]() {
      await storage.store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function openQueue(url: string, { storage }: Store) {
  const queue = createBullMqQueue({ url, storage, log: silentLog, onTrouble: () => undefined });
  const seen: number[] = [];
  return {
    queue,
    seen,
    work: () => queue.process(async (id) => void seen.push(id), { concurrency: 2, signal }),
    [Symbol.asyncDispose]: () => queue.close({ deadlineMs: 1_000 }),
  };
}

/** On any server that the queue can be on. */
function storesOn(url: () => string): void {
  it('a worker takes no jobs of another store', async () => {
    await using one = await openStore();
    await using other = await openStore();
    await using idle = openQueue(url(), one);
    await using worker = openQueue(url(), other);
    for (const id of [1, 2, 3]) idle.queue.kick(id);
    await vi.waitFor(() => expect(idle.queue.stats().waiting).toBe(3), SOON);
    worker.work();
    for (const id of [1, 7]) worker.queue.kick(id);
    await vi.waitFor(() => expect(worker.seen.toSorted()).toEqual([1, 7]), SOON);
    await worker.queue.idle();
    expect(worker.queue.stats()).toMatchObject({ waiting: 0, running: 0, trouble: null });
    idle.work();
    await vi.waitFor(() => expect(idle.seen.toSorted()).toEqual([1, 2, 3]), SOON);
    expect(worker.seen.toSorted()).toEqual([1, 7]);
  });

  it('processes of one store share their jobs', async () => {
    await using store = await openStore();
    await using gateway = openQueue(url(), store);
    await using worker = openQueue(url(), store);
    worker.work();
    gateway.queue.kick(5);
    await vi.waitFor(() => expect(worker.seen).toEqual([5]), SOON);
  });
}

describe('stores on js-redis-server', () => {
  const mock = serverForSuite(startRedisMock);
  storesOn(() => mock().url);
});

const redis = await findRedis();

describe('stores on Redis', () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);
  const server = serverForSuite(() => startRedis(redis));
  storesOn(() => server().url);
});

const postgres = await findPostgres();

describe('stores on Postgres', () => {
  if (postgres.kind === 'missing') return it.skip(`skipped: ${postgres.reason}`);
  const server = serverForSuite(() => startPostgres(postgres));
  storesOn(() => server().url);
});

it.each([
  ['no storage', undefined],
  ['a storage without an id', { upkeep: {} }],
  ['an id that no server accepts', { upkeep: { id: 'a:b' } }],
])('a queue with %s is refused', (_, storage) => {
  const options: object = { url: 'redis://127.0.0.1:1', log: silentLog, onTrouble: () => undefined, storage };
  expect(() => Reflect.apply(createBullMqQueue, null, [options])).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('storage.upkeep.id') }),
  );
});
