import { setTimeout as delay } from 'node:timers/promises';
import { createBullMqQueue } from '../../adapters/queues/bullmq/index.ts';
import type { Queue } from '../../src/ports/queue.ts';
import type { Storage } from '../../src/services.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { findPostgres, startPostgres } from '../../test/support/postgres-server.ts';
import type { RowOptions, RowResult } from '../figure.ts';
import { openRedis } from '../redis.ts';
import { openSite, type Site } from '../site.ts';
import { conversationKey } from '../world.ts';

const WORKERS = [1, 2, 4] as const;
/** The default of one process. */
const AT_ONCE = 4;
const LATENCY_MS = 1000;

/**
 * Summaries per second of several worker processes, each summary one model call of a second, compared with the calls
 * alone.
 */
export async function workers({ quick }: RowOptions): Promise<RowResult> {
  const rounds = quick ? 4 : 15;
  const programs = await findPostgres();
  await using redis = await openRedis();
  await using server = programs.kind === 'found' ? await startPostgres(programs, { syncs: true }) : null;
  await using site = await openSite({ storageUrl: server?.url ?? '', queueUrl: redis.url, latencyMs: LATENCY_MS });
  const names = (processes: number) =>
    Array.from({ length: processes * AT_ONCE * (rounds + 1) }, (_, index) => `w${processes}-${index}`);
  await site.prepare(WORKERS.flatMap(names), { isDue: false });
  const storage = await site.openStorage();
  const queue = createBullMqQueue({ url: redis.url, storage, log: silentLog, onTrouble: () => undefined });
  const rates: number[] = [];
  for (const processes of WORKERS) {
    rates.push(await measure({ site, storage, queue, processes, names: names(processes) }));
  }
  await queue.close({ deadlineMs: 0 });
  await storage.store.close();
  const where = server === null ? `a shared SQLite file, because of Postgres: ${missing(programs)}` : 'Postgres';
  return {
    figures: WORKERS.map((processes, index) => ({
      figure: `summaries a second, ${processes === 1 ? 'one worker process' : `${processes} worker processes`}`,
      unit: 'a second',
      baseline: { of: 'the model calls alone', value: (processes * AT_ONCE * 1000) / LATENCY_MS },
      ours: rates[index] ?? 0,
      bar: null,
    })),
    notes: [
      `${rounds} conversations for each job that can run at once, all due at the same moment. Processes of \`strata start --role worker\` with ${AT_ONCE} jobs at once in each, and a model behind HTTP that answers after ${LATENCY_MS} ms. The store: ${where}. The queue: ${redis.name}. Measured from the first hint to the last summary, after one summary for each job to warm up the processes.`,
    ],
  };
}

function missing(programs: Awaited<ReturnType<typeof findPostgres>>): string {
  return programs.kind === 'missing' ? programs.reason : '';
}

interface Measuring {
  readonly site: Site;
  readonly storage: Storage;
  readonly queue: Queue;
  readonly processes: number;
  readonly names: readonly string[];
}

async function measure({ site, storage, queue, processes, names }: Measuring): Promise<number> {
  const started = await Promise.all(Array.from({ length: processes }, () => site.start('worker')));
  const { conversations } = storage.store;
  const found = await Promise.all(names.map((name) => conversations.find(conversationKey(name))));
  const ids = found.flatMap((conversation) => (conversation === null ? [] : [conversation.id]));
  const dueAt = Date.now() + DUE_LATER_MS;
  await Promise.all(ids.map((id) => conversations.change(id, { kind: 'maintain', at: dueAt })));
  const warming = ids.splice(0, processes * AT_ONCE);
  for (const id of warming) queue.kick(id);
  await untilSummarised(storage, warming);
  const startedAt = performance.now();
  for (const id of ids) queue.kick(id);
  await untilSummarised(storage, ids);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const process of started) await process.kill();
  return ids.length / seconds;
}

/** Only kicks set them to work. */
const DUE_LATER_MS = 60_000;
const LOOK_MS = 20;
const LIMIT_MS = 120_000;

async function untilSummarised({ store }: Storage, ids: readonly number[]): Promise<void> {
  const endAt = performance.now() + LIMIT_MS;
  // In the order of the calls, so that a lookup is cheap.
  for (const id of ids) {
    while (((await store.conversations.get(id))?.compactedUpto ?? 0) === 0) {
      if (performance.now() > endAt) throw new Error('The workers did not come to an end.');
      await delay(LOOK_MS);
    }
  }
}
