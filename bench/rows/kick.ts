import { setTimeout as delay } from 'node:timers/promises';
import { Queue as BullQueue } from 'bullmq';
import { createBullMqQueue } from '../../adapters/queues/bullmq/index.ts';
import { createLocalQueue } from '../../adapters/queues/local/index.ts';
import type { Queue } from '../../src/ports/queue.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { type BenchRedis, openRedis } from '../redis.ts';
import { median, percentile } from '../samples.ts';
import { createWords } from '../words.ts';
import { conversationKey, withWorld } from '../world.ts';

const CONVERSATIONS = 300;
/** A window that soon exceeds its thresholds; nothing summarises here. */
const AGENT = { context_window: 6000, max_output_tokens: 500, tools: [] };
const TALKS = 4;

/** How much a kick delays the reply that sends it, with and without Redis. */
export async function kick({ quick }: RowOptions): Promise<RowResult> {
  const kicks = quick ? 2_000 : 10_000;
  const turns = quick ? 100 : 400;
  await using redis = await openRedis();
  const added = await addEach(redis, kicks / 4);
  const open = () =>
    createBullMqQueue({
      url: redis.url,
      storage: { upkeep: { id: 'bench' } },
      log: silentLog,
      onTrouble: () => undefined,
    });
  const queue = open();
  const up = await kickEach(queue, kicks);
  const local = await talk(createLocalQueue({ log: silentLog }), turns);
  const turnsUp = await talk(open(), turns);
  await redis.kill();
  const away = await kickEach(queue, kicks);
  const turnsAway = await talk(open(), turns);
  await queue.close({ deadlineMs: 0 });
  const figure = (name: string, percent: number, of: { ours: readonly number[]; baseline: Figure['baseline'] }) =>
    ({
      figure: `${name}, p${percent}`,
      unit: 'ms',
      baseline: of.baseline,
      ours: percentile(of.ours, percent),
      bar: null,
    }) as const;
  const awaited = (percent: number) => ({ of: 'queue.add, awaited', value: percentile(added, percent) });
  const inProcess = { of: 'queue in the process', value: median(local.times) };
  return {
    figures: [
      ...[50, 99].map((percent) => figure('a kick, Redis up', percent, { ours: up, baseline: awaited(percent) })),
      ...[50, 99].map((percent) => figure('a kick, Redis down', percent, { ours: away, baseline: awaited(percent) })),
      figure('a turn of a gateway with summaries due, Redis up', 50, { ours: turnsUp.times, baseline: inProcess }),
      figure('a turn of a gateway with summaries due, Redis down', 50, { ours: turnsAway.times, baseline: inProcess }),
    ],
    notes: [
      `${kicks} kicks of ${CONVERSATIONS} conversations in bursts of 50. ${turns} turns, one at a time, of a gateway without a worker, with the model at 0 ms; they sent ${local.kicks}, ${turnsUp.kicks} and ${turnsAway.kicks} kicks. Server: ${redis.name}.`,
    ],
  };
}

/** The cost of waiting for the queue. */
async function addEach({ url }: BenchRedis, count: number): Promise<readonly number[]> {
  const queue = new BullQueue('awaited', { connection: { port: Number(new URL(url).port) } });
  await queue.waitUntilReady();
  const times = await timed(count, (round) => queue.add('job', { round }, { removeOnComplete: true }));
  await queue.close();
  return times;
}

async function kickEach(queue: Queue, count: number): Promise<readonly number[]> {
  return await timed(count, async (round) => {
    const startedAt = performance.now();
    queue.kick(1 + (round % CONVERSATIONS));
    return performance.now() - startedAt;
  });
}

async function timed(count: number, work: (round: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const startedAt = performance.now();
    const took = await work(round);
    times.push(typeof took === 'number' ? took : performance.now() - startedAt);
    if (round % 50 === 49) await delay(2);
  }
  return times;
}

async function talk(
  queue: Queue,
  turns: number,
): Promise<{ readonly times: readonly number[]; readonly kicks: number }> {
  let kicks = 0;
  const counted: Queue = {
    ...queue,
    // A gateway, which does no jobs, refuses the queue of its own process.
    stats: () => ({ ...queue.stats(), driver: 'counted' }),
    kick(id, options) {
      kicks += 1;
      queue.kick(id, options);
    },
  };
  const words = createWords(9);
  const times: number[] = [];
  const models = providerOf(replyModel(), summaryModel(0));
  await withWorld({ models, agent: AGENT, queue: counted, role: 'gateway' }, async (world) => {
    for (let turn = 0; turn < turns + WARMING; turn += 1) {
      const key = conversationKey(turn % TALKS);
      const took = await world.ask(key, { id: `m${turn}`, text: words.text(60) });
      if (turn >= WARMING) times.push(took);
    }
  });
  return { times, kicks };
}

/** The first turns compile the code and fill the window. */
const WARMING = 100;
