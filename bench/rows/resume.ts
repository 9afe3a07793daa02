import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { findPostgres, startPostgres } from '../../test/support/postgres-server.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { openRedis } from '../redis.ts';
import { percentile } from '../samples.ts';
import { nameIn, openSite, type Site } from '../site.ts';

/** As many as one worker takes at once. */
const CONVERSATIONS = 4;
const BAR_SECONDS = 10;
const LIMIT_MS = 90_000;

interface Deployment {
  readonly name: string;
  readonly storageUrl: string;
  readonly queueUrl: string;
}

/** Time from the kill -9 of the summarising process until another one calls the model again. */
export async function resume({ quick }: RowOptions): Promise<RowResult> {
  const rounds = quick ? 1 : 5;
  const programs = await findPostgres();
  await using redis = await openRedis();
  await using server = programs.kind === 'found' ? await startPostgres(programs, { syncs: true }) : null;
  const deployments: Deployment[] = [
    { name: 'one process, restarted', storageUrl: '', queueUrl: '' },
    { name: `SQLite file and ${redis.name}`, storageUrl: '', queueUrl: `${redis.url}/1` },
  ];
  if (server !== null) {
    const [both, alone] = [await server.database('both'), await server.database('alone')];
    deployments.push({ name: `Postgres and ${redis.name}`, storageUrl: both, queueUrl: `${redis.url}/2` });
    deployments.push({ name: 'Postgres alone', storageUrl: alone, queueUrl: alone });
  }
  // Almost all of it is waiting, so running concurrently takes no longer than one.
  const [baseline, ...times] = await Promise.all([
    quick ? null : resumedByDefault(redis.url),
    ...deployments.map((deployment) => resumedIn(deployment, rounds)),
  ]);
  const notes = [
    `${rounds * CONVERSATIONS} jobs of each deployment, ${CONVERSATIONS} at a time in a process of \`strata start\` that is killed during the model call. Another process is ready at that time; with one process, its restart counts too. Measured from the kill to the next request for the same conversation.`,
  ];
  if (programs.kind === 'missing') notes.push(`Postgres was skipped: ${programs.reason}.`);
  if (quick) notes.push('A quick run leaves out the baseline, which takes a minute.');
  return {
    figures: deployments.map(({ name }, index) => figureOf(name, times[index] ?? [], baseline ?? null)),
    notes,
  };
}

function figureOf(name: string, times: readonly number[], baseline: number | null): Figure {
  return {
    figure: `maintenance resumed after kill -9, slowest: ${name}`,
    unit: 's',
    baseline: baseline === null ? null : { of: "BullMQ's defaults", value: baseline },
    ours: percentile(times, 100),
    bar: { of: 'ours', is: 'below', value: BAR_SECONDS },
  };
}

async function resumedIn({ storageUrl, queueUrl }: Deployment, rounds: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await using site = await openSite({ storageUrl, queueUrl, latencyMs: 0 });
    times.push(...(await resumedOnce(site, { round, isAlone: queueUrl === '' })));
  }
  return times;
}

async function resumedOnce(
  site: Site,
  { round, isAlone }: { readonly round: number; readonly isAlone: boolean },
): Promise<readonly number[]> {
  const names = Array.from({ length: CONVERSATIONS }, (_, index) => `r${round}-${index}`);
  await site.prepare(names, { isDue: true });
  site.models.latencyMs = null;
  const began = watch(site, names);
  const role = isAlone ? 'all' : 'worker';
  const first = await site.start(role);
  await began();
  const second = isAlone ? null : await site.start(role);
  const again = watch(site, names);
  const killedAt = performance.now();
  await first.kill();
  // Answers the repeated calls, so that nothing is left for the next round.
  site.models.latencyMs = 0;
  if (second === null) await site.start(role);
  const times = await again();
  await delay(STORED_MS);
  return times.map((at) => (at - killedAt) / 1000);
}

/** An answer is stored long before. */
const STORED_MS = 2000;

/** Waits until the model was called for each of the conversations, and returns when that was. */
function watch({ models }: Site, names: readonly string[]): () => Promise<readonly number[]> {
  const asked = new Map<string, number>();
  models.onRequest = (request) => {
    const name = nameIn(request, names);
    if (name !== null && !asked.has(name)) asked.set(name, performance.now());
  };
  return async () => {
    const endAt = performance.now() + LIMIT_MS;
    while (asked.size < names.length) {
      if (performance.now() > endAt) throw new Error(`Only ${asked.size} of ${names.length} jobs were resumed.`);
      await delay(5);
    }
    return [...asked.values()];
  };
}

const WORKER = fileURLToPath(new URL('../children/default-worker.process.ts', import.meta.url));

/** Seconds until another worker takes the job of a killed one, with BullMQ's default settings. */
async function resumedByDefault(url: string): Promise<number> {
  const { port } = new URL(url);
  const queue = new Queue('defaults', { connection: { port: Number(port) } });
  await queue.add('job', {});
  const first = startWorker(port);
  await first.until('began');
  const second = startWorker(port);
  await second.until('ready');
  const killedAt = performance.now();
  first.child.kill('SIGKILL');
  await second.until('began');
  const seconds = (performance.now() - killedAt) / 1000;
  second.child.kill('SIGKILL');
  await queue.close();
  return seconds;
}

function startWorker(port: string): { readonly child: ChildProcess; until(line: string): Promise<void> } {
  const child = spawn(process.execPath, [WORKER, port, 'defaults'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = new Set<string>();
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (line) => lines.add(line));
  return {
    child,
    async until(line) {
      while (!lines.has(line)) {
        if (child.exitCode !== null) throw new Error('A worker of the baseline ended.');
        await delay(10);
      }
    },
  };
}
