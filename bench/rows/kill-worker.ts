import { setTimeout as delay } from 'node:timers/promises';
import { createBullMqQueue } from '../../adapters/queues/bullmq/index.ts';
import { silentLog } from '../../src/util/log/silent-log.ts';
import { findPostgres, startPostgres } from '../../test/support/postgres-server.ts';
import { providerOf, replyModel, summaryModel } from '../models.ts';
import { openRedis } from '../redis.ts';
import { openSite, SITE_AGENT, type Site } from '../site.ts';
import { within } from '../within.ts';
import { createWords } from '../words.ts';
import { conversationKey, openWorld, type World } from '../world.ts';

const CONVERSATIONS = 6;
/** A reply that takes longer counts as lost. */
const PATIENCE_MS = 10_000;
const SUMMARY_MS = 1000;
const PAUSE_MS = 50;

export interface WorkerKillOutcome {
  readonly kills: number;
  readonly asked: number;
  readonly lost: number;
  readonly where: string;
}

/**
 * People talk to a gateway without pause in conversations that are due to be summarised, while the worker is killed
 * repeatedly, each time during a call.
 */
export async function workerKillRun(kills: number): Promise<WorkerKillOutcome> {
  const programs = await findPostgres();
  await using redis = await openRedis();
  await using server = programs.kind === 'found' ? await startPostgres(programs, { syncs: true }) : null;
  await using site = await openSite({ storageUrl: server?.url ?? '', queueUrl: redis.url, latencyMs: SUMMARY_MS });
  const names = Array.from({ length: CONVERSATIONS }, (_, index) => `k-${index}`);
  await site.prepare(names, { isDue: true });
  const storage = await site.openStorage();
  const world = await openWorld({
    storage,
    queue: createBullMqQueue({ url: redis.url, storage, log: silentLog, onTrouble: () => undefined }),
    role: 'gateway',
    models: providerOf(replyModel(5), summaryModel(0)),
    agent: SITE_AGENT,
  });
  const end = new AbortController();
  const talks = Promise.all(names.map((name, seed) => talk(world, { name, seed, signal: end.signal })));
  try {
    await killEach(site, kills);
  } finally {
    end.abort();
  }
  const outcomes = await talks;
  await world.close();
  const sum = (of: 'asked' | 'lost') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  const where = `${server === null ? 'an SQLite file' : 'Postgres'} and ${redis.name}`;
  return { kills, asked: sum('asked'), lost: sum('lost'), where };
}

async function talk(world: World, of: { readonly name: string; readonly seed: number; readonly signal: AbortSignal }) {
  const words = createWords(of.seed);
  let asked = 0;
  let lost = 0;
  while (!of.signal.aborted) {
    const message = { id: `said-${asked}`, text: words.text(30) };
    asked += 1;
    if ((await within(world.ask(conversationKey(of.name), message), PATIENCE_MS)) === null) lost += 1;
    await delay(PAUSE_MS);
  }
  return { asked, lost };
}

/** Each time during a call; then nothing summarises for a while. */
async function killEach(site: Site, kills: number): Promise<void> {
  for (let kill = 0; kill < kills; kill += 1) {
    const asked = Promise.withResolvers<void>();
    site.models.onRequest = () => asked.resolve();
    const worker = await site.start('worker');
    await asked.promise;
    await worker.kill();
    await delay(ALONE_MS);
  }
}

const ALONE_MS = 2000;
