import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { createOfflineModel } from '../../adapters/models/offline/index.ts';
import { createBullMqQueue } from '../../adapters/queues/bullmq/index.ts';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import { type Channel, type ConversationKey, type MaintenanceRun, makeKey, type Queue } from '../../src/adapter-kit.ts';
import { type Bot, createBot } from '../../src/bot/bot.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { findRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { RELATIVE_IMPORTS } from '../support/relative-imports.ts';

const WORKER = fileURLToPath(new URL('./redis-worker.process.ts', import.meta.url));
const RESUME_LIMIT_MS = 30_000;
const CONVERSATIONS = Array.from({ length: 4 }, (_, index) =>
  makeKey({ platform: 'test', workspace: 'here', channel: `talk${index}` }),
);
/** Makes a message long enough that a dozen of them fill the model's small window to the threshold. */
const WHERE = 'The clerk with the green glasses keeps it on the shelf behind the door. The counter is open until noon.';

interface Place extends AsyncDisposable {
  readonly bot: Bot;
  readonly redis: RedisServer;
  /** Milliseconds that each kick took. */
  readonly kicks: readonly number[];
  readonly posted: ReadonlyMap<ConversationKey, number>;
  startWorker(): Promise<void>;
  killWorkers(): Promise<void>;
  /** Sends enough messages everywhere that something is due, and waits for the replies. Returns the longest wait. */
  talk(messages: number): Promise<number>;
  /** Summaries committed so far. */
  summaries(): Promise<readonly MaintenanceRun[]>;
  /** Resolves when nothing is due any more, with the time that took. */
  settled(): Promise<number>;
}

interface Options {
  readonly redisIsUp: boolean;
}

/** A gateway in this process, workers in others, one SQLite file, one Redis. */
async function openPlace(redis: RedisServer, { redisIsUp }: Options): Promise<Place> {
  if (!redisIsUp) await redis.kill();
  const directory = await mkdtemp(join(tmpdir(), 'strata-outage-'));
  const workers: ChildProcess[] = [];
  const kicks: number[] = [];
  const posted = new Map<ConversationKey, number>();
  const model = createOfflineModel();
  const storage = await createSqliteStorage({ directory, shared: true });
  const bot = createBot({
    storage,
    queue: timed(createBullMqQueue({ url: redis.url, storage, log: silentLog, onTrouble: () => undefined }), kicks),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'main', model: model.id, mode: 'active' }],
    channels: [countingChannel(posted)],
    role: 'gateway',
  });
  await bot.start();
  const killWorkers = async () => {
    for (const worker of workers.splice(0)) {
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
  };
  const { conversations, journal } = bot.services.store;
  let said = 0;
  return {
    bot,
    redis,
    kicks,
    posted,
    killWorkers,
    async startWorker() {
      const child = spawn(process.execPath, [...RELATIVE_IMPORTS, WORKER, directory, redis.url], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      workers.push(child);
      if (child.stdout !== null) await once(child.stdout, 'data');
    },
    async talk(messages) {
      let longest = 0;
      for (let count = 0; count < messages; count += 1) {
        said += 1;
        const start = performance.now();
        await Promise.all(CONVERSATIONS.map((key) => say(bot, key, said)));
        await bot.settled();
        longest = Math.max(longest, performance.now() - start);
      }
      return longest;
    },
    async summaries() {
      const ids = await Promise.all(CONVERSATIONS.map((key) => conversations.find(key)));
      const runs = await Promise.all(ids.map((found) => (found === null ? [] : journal.runs(found.id, 100))));
      return runs.flat().filter(({ outcome }) => outcome === 'committed');
    },
    async settled() {
      const start = performance.now();
      for (;;) {
        const due = await conversations.due('maintenance', { now: Date.now(), limit: 10 });
        const rows = await conversations.list({ order: 'active', limit: 10, after: null });
        const isHeld = rows.some(({ maintenanceUntil }) => (maintenanceUntil ?? 0) > Date.now());
        if (due.length === 0 && !isHeld) return performance.now() - start;
        if (performance.now() - start > RESUME_LIMIT_MS) throw new Error(`${due.length} conversations are still due.`);
        await sleep(50);
      }
    },
    async [Symbol.asyncDispose]() {
      await killWorkers();
      await bot.stop({ deadlineMs: 500 });
      await redis[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function timed(queue: Queue, kicks: number[]): Queue {
  return {
    ...queue,
    kick(id, options) {
      const start = performance.now();
      queue.kick(id, options);
      kicks.push(performance.now() - start);
    },
  };
}

function countingChannel(posted: Map<ConversationKey, number>): Channel {
  return {
    platform: 'test',
    traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start: async () => undefined,
    split: (text) => [{ kind: 'text', text }],
    async post({ conversation, nonce }) {
      posted.set(conversation, (posted.get(conversation) ?? 0) + 1);
      return { platformMessageId: nonce };
    },
    show: () => undefined,
    stop: async () => undefined,
  };
}

async function say(bot: Bot, conversation: ConversationKey, count: number): Promise<void> {
  await bot.sink.message({
    conversation,
    externalId: `m${count}`,
    author: { id: 'u-ada', name: 'Ada', kind: 'person' },
    text: `My parcel ${count} is at the post office, between the bakery and the old town hall. ${WHERE}`,
    attachments: [],
    replyTo: null,
    mentions: [],
    addressesBot: true,
    audience: 'private',
    at: Date.now(),
  });
}

/** No message is in two summaries of messages, and the view has no hole. */
async function expectWhole({ bot, summaries, posted }: Place, messages: number): Promise<void> {
  const ranges = Map.groupBy(
    (await summaries()).filter(({ work }) => work === 'compact' || work === 'fill'),
    ({ conversationId }) => conversationId,
  );
  for (const runs of ranges.values()) {
    const ordered = runs.toSorted((a, b) => a.fromSeq - b.fromSeq);
    for (const [index, run] of ordered.entries()) {
      expect(run.fromSeq).toBe(index === 0 ? 1 : (ordered[index - 1]?.toSeq ?? 0) + 1);
    }
  }
  const { conversations, transcript } = bot.services.store;
  for (const key of CONVERSATIONS) {
    const found = await conversations.find(key);
    const snapshot = found && (await transcript.context(found.id, { maxEntries: 1000 }));
    const stack = snapshot?.stack ?? [];
    expect(stack[0]?.fromSeq).toBe(1);
    for (const [index, layer] of stack.slice(1).entries()) expect(layer.fromSeq).toBe((stack[index]?.toSeq ?? 0) + 1);
    expect(snapshot?.tail[0]?.seq).toBe((stack.at(-1)?.toSeq ?? 0) + 1);
    expect(posted.get(key)).toBe(messages);
  }
}

function report(what: string, { kicks }: Place, longest: number): void {
  const sorted = kicks.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  const words = `${kicks.length} kicks, p99 ${p99.toFixed(3)} ms; longest wait for four replies ${longest.toFixed(0)} ms`;
  process.stdout.write(`${what}: ${words}\n`);
}

vi.setConfig({ testTimeout: 600_000 });
const redis = await findRedis();

describe('replies and summaries of a gateway and a worker', () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);

  // Shows: W9
  it('go on without Redis, and summaries follow when it comes', async () => {
    await using place = await openPlace(await startRedis(redis), { redisIsUp: false });
    await place.startWorker();
    const longest = await place.talk(14);
    report('Redis absent', place, longest);
    expect(place.kicks.length).toBeGreaterThanOrEqual(CONVERSATIONS.length);
    expect(await place.summaries()).toEqual([]);
    // The first connection may still be on its way to fail.
    await until(() => place.bot.services.queue.stats().trouble !== null);
    expect(place.bot.services.queue.stats().trouble).toContain('summaries wait');
    await place.redis.start();
    await place.settled();
    expect((await place.summaries()).length).toBeGreaterThanOrEqual(CONVERSATIONS.length);
    await until(() => place.bot.services.queue.stats().trouble === null);
    await expectWhole(place, 14);
  });

  // Shows: W10
  it('go on while Redis is killed and loses everything', async () => {
    await using place = await openPlace(await startRedis(redis), { redisIsUp: true });
    await place.startWorker();
    await place.talk(8);
    await place.redis.kill();
    await place.redis.wipe();
    const longest = await place.talk(8);
    report('Redis killed and wiped', place, longest);
    expect(place.kicks.length).toBeGreaterThanOrEqual(CONVERSATIONS.length);
    await place.redis.start();
    await place.talk(2);
    await place.settled();
    expect((await place.summaries()).length).toBeGreaterThanOrEqual(CONVERSATIONS.length);
    await expectWhole(place, 18);
  });

  // Shows: W11
  it('go on without workers, and the next one catches up', async () => {
    await using place = await openPlace(await startRedis(redis), { redisIsUp: true });
    await place.startWorker();
    await place.talk(7);
    await place.killWorkers();
    const longest = await place.talk(7);
    report('workers dead', place, longest);
    expect(place.kicks.length).toBeGreaterThanOrEqual(CONVERSATIONS.length);
    await place.startWorker();
    await place.settled();
    expect((await place.summaries()).length).toBeGreaterThanOrEqual(CONVERSATIONS.length);
    await expectWhole(place, 14);
  });
});

describe('a kick', () => {
  if (redis.kind === 'missing') return it.skip(`skipped: ${redis.reason}`);

  // Shows: W8, W12
  it('costs nothing and is kept, whatever Redis does', async () => {
    await using server = await startRedis(redis);
    await server.kill();
    const storage = { upkeep: { id: 'tests' } };
    const queue = createBullMqQueue({ url: server.url, storage, log: silentLog, onTrouble: () => undefined });
    const looked = new Map<number, number>();
    const see = async (id: number) => void looked.set(id, performance.now());
    queue.process(see, { concurrency: 8, signal: new AbortController().signal });
    await kickMany(queue, 'absent');
    const absentUntil = performance.now();
    await server.start();
    await until(() => looked.size === KICKED);
    await kickMany(queue, 'up');
    await queue.idle();
    await server.kill();
    await kickMany(queue, 'killed');
    const killedUntil = performance.now();
    await server.wipe();
    await server.start();
    await until(() => [...looked.values()].every((at) => at > killedUntil));
    expect(Math.min(...looked.values())).toBeGreaterThan(absentUntil);
    await queue.close({ deadlineMs: 1000 });
  });
});

const KICKED = 300;

async function kickMany(queue: Queue, state: string): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 2000; round += 1) {
    const start = performance.now();
    queue.kick(round % KICKED);
    times.push(performance.now() - start);
    if (round % 50 === 0) await sleep(5);
  }
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
  process.stdout.write(
    `2000 kicks, Redis ${state}: p99 ${p99.toFixed(4)} ms, longest ${times.at(-1)?.toFixed(2)} ms\n`,
  );
  expect(p99).toBeLessThan(5);
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries === 1200) throw new Error('It did not come true within 60 s.');
    await sleep(50);
  }
}
