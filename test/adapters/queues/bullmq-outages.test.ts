import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBullMqQueue } from '../../../adapters/queues/bullmq/index.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { openFreezer } from '../../support/freezer.ts';
import { freePort } from '../../support/port.ts';
import { findRedis, startRedis } from '../../support/redis-server.ts';

/** What happens on the Redis of an operator while a bot runs. */

const redis = await findRedis();
const SOON = { timeout: 20_000, interval: 200 };

describe('a queue on Redis', { timeout: 60_000 }, () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);
  afterEach(() => void vi.useRealTimers());

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

  it('follows its address to another server', async () => {
    await using former = await startRedis(redis);
    await using next = await startRedis(redis);
    await using relay = await openRelay(former.port);
    await using place = openPlace(`redis://127.0.0.1:${relay.port}`);
    place.work();
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.done).toEqual([1]), SOON);
    const admin = new Redis(former.url);
    await admin.replicaof('127.0.0.1', await freePort());
    relay.lead(next.port);
    place.queue.kick(2);
    await vi.waitFor(() => expect(place.done).toEqual([1, 2]), SOON);
    await vi.waitFor(() => expect(place.queue.stats().trouble).toBeNull(), SOON);
    admin.disconnect();
  });

  it('replaces connections that have gone silent', async () => {
    await using server = await startRedis(redis);
    await using relay = await openFreezer(server.url);
    await using place = openPlace(relay.url);
    place.work();
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.done).toEqual([1]), SOON);
    relay.freeze();
    relay.thaw();
    place.queue.kick(2);
    await vi.waitFor(() => expect(place.done).toEqual([1, 2]), { ...SOON, timeout: 40_000 });
    await vi.waitFor(() => expect(place.queue.stats().trouble).toBeNull(), SOON);
  });

  it('notices an outage’s end with the clock set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    await using server = await startRedis(redis);
    await using place = openPlace(server.url);
    place.queue.kick(1);
    await place.queue.idle();
    vi.setSystemTime(Date.now() - 3_600_000);
    await server.kill();
    await vi.waitFor(() => expect(place.queue.stats().trouble).not.toBeNull(), SOON);
    await server.start();
    await vi.waitFor(() => expect(place.queue.stats().trouble).toBeNull(), SOON);
  });

  it('names the refused password until it is accepted again', async () => {
    await using server = await startRedis(redis);
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'bot', 'on', '>word', '~*', '+@all');
    await using place = openPlace(server.url.replace('//', '//bot:word@'));
    place.work();
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.done).toEqual([1]), SOON);
    await admin.call('ACL', 'SETUSER', 'bot', 'resetpass', '>another');
    await admin.call('CLIENT', 'KILL', 'USER', 'bot');
    place.queue.kick(2);
    await vi.waitFor(() => expect(place.queue.stats().trouble).toContain('WRONGPASS'), SOON);
    for (let look = 0; look < 60; look += 1) {
      expect(place.queue.stats().trouble).toContain('WRONGPASS');
      await sleep(50);
    }
    await admin.call('ACL', 'SETUSER', 'bot', 'resetpass', '>word');
    await vi.waitFor(() => expect(place.done).toEqual([1, 2]), SOON);
    admin.disconnect();
  });

  it('reports a worker that may not do what it needs', async () => {
    await using server = await startRedis(redis, ['--rename-command', 'BZPOPMIN', '']);
    await using place = openPlace(server.url);
    place.work();
    place.queue.kick(1);
    await vi.waitFor(() => expect(place.queue.stats().trouble).toMatch(/refuses what workers need .*bzpopmin/u), SOON);
  });

  it('reports no worker that is only disconnected for a moment', async () => {
    await using server = await startRedis(redis);
    await using place = openPlace(server.url);
    const admin = new Redis(server.url);
    place.work();
    for (let id = 1; id <= 4; id += 1) {
      place.queue.kick(id);
      await vi.waitFor(() => expect(place.done).toContain(id), SOON);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await sleep(1_000);
    }
    place.queue.kick(5);
    await vi.waitFor(() => expect(place.done).toContain(5), SOON);
    expect(place.told.filter((told) => told.includes('workers'))).toEqual([]);
    await vi.waitFor(() => expect(place.queue.stats().trouble).toBeNull(), SOON);
    admin.disconnect();
  });

  it('runs a conversation whose waiting job was evicted', async () => {
    await using server = await startRedis(redis);
    const admin = new Redis(server.url);
    await using place = openPlace(server.url);
    place.queue.kick(7);
    await vi.waitFor(() => expect(place.queue.stats().waiting).toBe(1), SOON);
    await vi.waitFor(async () => expect(await admin.llen('{strata}:maintenance-tests:wait')).toBe(1), SOON);
    expect(await admin.del('{strata}:maintenance-tests:wait')).toBe(1);
    place.work();
    // A worker kicks whatever is due every two seconds.
    await vi.waitFor(() => {
      place.queue.kick(7);
      expect(place.done).toContain(7);
    }, SOON);
    admin.disconnect();
  });
});

function openPlace(url: string) {
  const done: number[] = [];
  const told: string[] = [];
  const queue = createBullMqQueue({
    url,
    storage: { upkeep: { id: 'tests' } },
    log: silentLog,
    onTrouble: (message) => void told.push(message),
  });
  const { signal } = new AbortController();
  return {
    queue,
    done,
    told,
    work: () => queue.process(async (id) => void done.push(id), { concurrency: 2, signal }),
    [Symbol.asyncDispose]: () => queue.close({ deadlineMs: 0 }),
  };
}

/** An address that can be led to another server; connections that are open stay where they are. */
async function openRelay(first: number) {
  let target = first;
  const open = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    lead(port: number) {
      target = port;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      relay.close();
    },
  };
}
