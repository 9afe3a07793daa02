import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOfflineModel } from '../../../adapters/models/offline/index.ts';
import { startOperations } from '../../../adapters/operations/http/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type Channel,
  DAY_MS,
  type MaintenanceRun,
  makeKey,
  type Operations,
  type ProcessRole,
  type Queue,
} from '../../../src/adapter-kit.ts';
import { type Bot, createBot } from '../../../src/bot/bot.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';

const KEY = makeKey({ platform: 'test', workspace: 'here', channel: 'talk' });
/** Makes a message long enough that a dozen of them fill the model's small window to the threshold. */
const WHERE = 'The clerk with the green glasses keeps it on the shelf behind the door. The counter is open until noon.';
const channel: Channel = {
  platform: 'test',
  traits: { idempotentPosts: true, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
  linkTo: async () => null,
  start: async () => undefined,
  split: (text) => [{ kind: 'text', text }],
  post: async ({ nonce }) => ({ platformMessageId: nonce }),
  show: () => undefined,
  stop: async () => undefined,
};

let directory: string;
let bot: Bot;
let trouble: string | null;
let opened: Operations[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'strata-operations-'));
  trouble = null;
  opened = [];
  const queue: Queue = createLocalQueue({ log: silentLog });
  const model = createOfflineModel();
  bot = createBot({
    storage: await createSqliteStorage({ directory }),
    queue: { ...queue, stats: () => ({ ...queue.stats(), trouble }) },
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    agents: [{ id: 'main', model: model.id, mode: 'active' }],
    channels: [channel],
  });
  await bot.start();
});
afterEach(async () => {
  for (const operations of opened) await operations.close();
  await bot.stop({ deadlineMs: 500 });
  await rm(directory, { recursive: true, force: true });
});

async function open(role: ProcessRole = 'all'): Promise<string> {
  const operations = await startOperations({
    services: bot.services,
    role,
    listen: '127.0.0.1:0',
    log: silentLog,
    openBoard: null,
  });
  opened.push(operations);
  return operations.url;
}

async function say(count: number): Promise<void> {
  await bot.sink.message({
    conversation: KEY,
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
  await bot.settled();
}

/** The value of a metrics line, by its name and labels as written. */
function sampleOf(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
}

describe('the pages for those who look after a process', () => {
  it('say that it lives', async () => {
    const response = await fetch(`${await open()}/livez`);
    expect([response.status, await response.text()]).toEqual([200, 'ok\n']);
  });

  // Shows: W31
  it('call gateways ready without a queue, workers not', async () => {
    const [gateway, worker] = [await open('gateway'), await open('worker')];
    expect((await fetch(`${worker}/readyz`)).status).toBe(200);
    trouble = 'Redis is away';
    expect((await fetch(`${gateway}/readyz`)).status).toBe(200);
    const response = await fetch(`${worker}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ready: false, role: 'worker', store: 'ok', queue: 'Redis is away' });
  });

  it('call nobody ready without the store', async () => {
    const url = await open('gateway');
    await bot.stop({ deadlineMs: 100 });
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ ready: false, queue: 'ok' });
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it('time replies after many that were never posted', async () => {
    const url = await open();
    const others = Array.from({ length: 10_000 }, (_, index) => ({
      platform: 'test',
      workspace: 'h',
      channel: `c${index}`,
    }));
    for (const other of others)
      bot.events.emit({ kind: 'message.accepted', conversation: makeKey(other), seq: 1, wantsReply: true });
    await say(1);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(sampleOf(text, 'strata_reply_seconds_count')).toBe(1);
  });

  it('time no reply from a question that was never answered', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const url = await open();
      bot.events.emit({ kind: 'message.accepted', conversation: KEY, seq: 1, wantsReply: true });
      vi.setSystemTime(Date.now() + DAY_MS);
      await say(1);
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(sampleOf(text, 'strata_reply_seconds_sum')).toBeLessThan(60);
    } finally {
      vi.useRealTimers();
    }
  });

  it('count what happened, in the words of Prometheus', async () => {
    const url = await open();
    for (let count = 1; count <= 14; count += 1) await say(count);
    await say(14);
    await bot.services.queue.idle();
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain');
    const text = await response.text();
    expect(sampleOf(text, 'strata_messages_total{kind="accepted"}')).toBe(14);
    expect(sampleOf(text, 'strata_messages_total{kind="duplicate"}')).toBe(1);
    expect(sampleOf(text, 'strata_turns_total{outcome="ended",reason=""}')).toBe(14);
    expect(sampleOf(text, 'strata_posts_total{outcome="posted"}')).toBe(14);
    expect(sampleOf(text, 'strata_reply_seconds_count')).toBe(14);
    expect(sampleOf(text, 'strata_model_calls_total{purpose="reply",model="offline:demo"}')).toBeGreaterThanOrEqual(14);
    expect(
      sampleOf(text, 'strata_model_tokens_total{purpose="reply",model="offline:demo",direction="input"}'),
    ).toBeGreaterThan(1000);
    expect(sampleOf(text, 'strata_model_cost_dollars_total{purpose="reply",model="offline:demo"}')).toBe(0);
    expect(text).toMatch(/strata_maintenance_runs_total\{work="compact",trigger="\w+",outcome="committed"\} [1-9]/u);
    expect(text).toMatch(/strata_maintenance_seconds_count\{work="compact"\} [1-9]/u);
    expect(sampleOf(text, 'strata_tail_entries{of="max"}')).toBeGreaterThan(1);
    expect(sampleOf(text, 'strata_tail_entries{of="max"}')).toBeLessThan(28);
    expect(sampleOf(text, 'strata_tail_entries{of="p95"}')).toBeGreaterThan(1);
    expect(sampleOf(text, 'strata_tail_oldest_seconds')).toBeGreaterThan(0);
    expect(sampleOf(text, 'strata_tail_oldest_seconds')).toBeLessThan(60);
    expect(sampleOf(text, 'strata_queue_reachable')).toBe(1);
    expect(sampleOf(text, 'strata_maintenance_due')).toBe(0);
    expect(sampleOf(text, 'strata_posts_pending')).toBe(0);
    expect(text).toContain('nodejs_eventloop_lag');
  });

  // Shows: W32
  it('count stale, failed and late work by tier', async () => {
    const url = await open();
    const run: MaintenanceRun = {
      id: 'r',
      conversationId: 1,
      fromSeq: 1,
      toSeq: 2,
      error: null,
      memories: 0,
      model: 'm',
      startedAt: 0,
      tokensBefore: 9,
      tokensAfter: 1,
      inputTokens: 9,
      outputTokens: 1,
      durationMs: 2500,
      work: 'compact',
      trigger: 'aggressive',
      outcome: 'stale',
    };
    const late = { conversation: KEY, message: 'away', failures: 1, nextAttemptAt: 9 };
    bot.events.emit({ kind: 'maintenance.ended', conversation: KEY, run });
    bot.events.emit({ kind: 'maintenance.ended', conversation: KEY, run: { ...run, outcome: 'failed' } });
    bot.events.emit({ ...late, kind: 'maintenance.delayed' });
    bot.events.emit({ ...late, kind: 'turn.delayed' });
    bot.events.emit({ ...late, kind: 'reply.delayed', chunk: 0 });
    bot.events.emit({ kind: 'reply.failed', conversation: KEY, chunk: 0, message: 'gone' });
    bot.events.emit({ kind: 'turn.failed', conversation: KEY, readUpto: 1, reason: 'timeout', message: 'late' });
    const cut = { readUpto: 1, steps: 1, durationMs: 5, cut: 'length' } as const;
    bot.events.emit({ kind: 'turn.ended', conversation: KEY, ...cut });
    bot.events.emit({ kind: 'gap.opened', conversation: KEY, fromSeq: 1, toSeq: 2, reason: 'emergency' });
    const odd = { platform: 'discord', event: 'MESSAGE_CREATE', channel: '1', externalId: '2', problem: 'no author' };
    bot.events.emit({ kind: 'message.dropped', conversation: null, reason: 'malformed', ...odd });
    bot.events.emit({ kind: 'queue.trouble', conversation: null, message: 'away' });
    const text = await (await fetch(`${url}/metrics`)).text();
    const once = [
      'strata_maintenance_runs_total{work="compact",trigger="aggressive",outcome="stale"}',
      'strata_maintenance_runs_total{work="compact",trigger="aggressive",outcome="failed"}',
      'strata_maintenance_failures_total',
      'strata_turns_total{outcome="delayed",reason=""}',
      'strata_turns_total{outcome="failed",reason="timeout"}',
      'strata_turns_total{outcome="ended",reason="length"}',
      'strata_posts_total{outcome="delayed"}',
      'strata_posts_total{outcome="failed"}',
      'strata_gaps_total{reason="emergency"}',
      'strata_messages_dropped_total{platform="discord",reason="malformed"}',
      'strata_troubles_total{kind="queue.trouble"}',
    ];
    expect(once.map((name) => [name, sampleOf(text, name)])).toEqual(once.map((name) => [name, 1]));
    expect(sampleOf(text, 'strata_maintenance_seconds_sum{work="compact"}')).toBe(5);
    for (const state of ['waiting', 'running', 'delayed']) {
      expect(sampleOf(text, `strata_queue_jobs{state="${state}"}`)).toBe(0);
    }
    expect(sampleOf(text, 'strata_maintenance_due_oldest_seconds')).toBe(0);
    expect(sampleOf(text, 'strata_replies_owed')).toBe(0);
  });

  // Shows: R23
  it('tell nothing of people and conversations', async () => {
    const url = await open();
    await say(1);
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const word of ['Ada', 'u-ada', 'talk', 'parcel']) expect(text).not.toContain(word);
  });

  it('are read-only and list each other on unknown paths', async () => {
    const url = await open();
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    const response = await fetch(`${url}/else`);
    expect([response.status, await response.text()]).toEqual([404, 'Known: /livez /readyz /metrics\n']);
  });

  it('say where they could not be opened', async () => {
    const url = new URL(await open());
    const again = startOperations({
      services: bot.services,
      role: 'all',
      listen: url.host,
      log: silentLog,
      openBoard: null,
    });
    await expect(again).rejects.toMatchObject({ code: 'LISTEN_FAILED', data: { address: url.host } });
  });
});
