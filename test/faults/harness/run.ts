import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configText } from './config-text.ts';
import { type Court, createCourt } from './court.ts';
import { type Damage, doublePosts, owedOf } from './damage.ts';
import type { Deployment } from './deployments.ts';
import { createExecutioner, type Toll } from './executioner.ts';
import { startFleet } from './fleet.ts';
import { createModelServer, type ModelManners } from './model.ts';
import { planFaults } from './plan.ts';
import { createPlatform, type Platform, type PlatformRecord } from './platform.ts';
import { createChance } from './random.ts';
import { readPostgres, readSqlite } from './rows.ts';
import { startServers } from './servers.ts';

export interface RunOptions {
  readonly deployment: Deployment;
  readonly seed: number;
  readonly messages: number;
  readonly conversations: number;
  readonly kills: number;
  /** Between two faults. */
  readonly everyMs: readonly [number, number];
  readonly freezes: readonly ('gateway' | 'worker')[];
  readonly gateways: number;
  readonly workers: number;
  /** Compare-and-set is switched off: the run must find damage. */
  readonly ignoresCompareAndSet: boolean;
  /** js-redis-server even where a Redis is found. */
  readonly isJavaScript: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (words: string) => void;
}

export interface RunResult {
  readonly deployment: Deployment;
  readonly servers: readonly string[];
  readonly messages: number;
  readonly toll: Toll;
  readonly summaries: number;
  readonly condensed: number;
  readonly memories: number;
  readonly modelCalls: number;
  /** Of them, those that went wrong on purpose. */
  readonly modelFaults: number;
  readonly staleRefused: number;
  readonly staleForced: number;
  readonly redelivered: number;
  readonly recognised: number;
  readonly doublePosts: number;
  readonly lost: number;
  /** Looks at everything, after each fault and at the end. */
  readonly looks: number;
  readonly damage: readonly Damage[];
  /** From saying to the reply that people see, in milliseconds. */
  readonly answers: { readonly median: number; readonly p99: number; readonly longest: number };
  readonly seconds: number;
}

const WINDOW_TOKENS = 5000;
const READY_LIMIT_MS = 60_000;
const DRAIN_LIMIT_MS = 90_000;
const TRAFFIC_STEP_MS = 20;
const MANNERS: ModelManners = {
  replyLatencyMs: [5, 80],
  summaryLatencyMs: [50, 400],
  replyFaults: 0.04,
  summaryFaults: 0.12,
};

/** One deployment from an empty store to an end at which nothing may be owed. Everything it started is gone afterwards. */
export async function runDeployment(options: RunOptions): Promise<RunResult> {
  const { deployment, seed, signal } = options;
  const startedAt = performance.now();
  const chance = (stream: string) => createChance(seed, `${deployment.number} ${stream}`);
  await using things = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'strata-faults-'));
  if (process.env['KEEP'] === undefined)
    things.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  const servers = things.use(await startServers(deployment, options));
  const database = (await servers.postgres?.database('strata')) ?? '';
  const model = things.use(
    await createModelServer({ chance: chance('model'), manners: MANNERS, windowTokens: WINDOW_TOKENS }),
  );
  const config = join(directory, 'config.toml');
  const queue = { local: '', redis: servers.redis?.url ?? '', postgres: database }[deployment.queue];
  await writeFile(
    config,
    configText({ directory, storage: database, queue, model: model.url, windowTokens: WINDOW_TOKENS }),
  );
  const platform = createPlatform({ chance: chance('platform'), conversations: options.conversations, now: Date.now });
  const court = createCourt({
    read: deployment.store === 'postgres' ? readPostgres(database) : readSqlite(directory),
    platform: platform.record,
    model: model.record,
  });
  const commits = { refused: 0, forced: 0 };
  const restart = chance('restart');
  const executioner = createExecutioner({ servers, court, signal });
  const fleet = things.use(
    startFleet({
      roles: rolesOf(options),
      directory,
      config,
      ignoresCompareAndSet: options.ignoresCompareAndSet,
      restartMs: () => restart.between(100, 1200),
      isExcused: executioner.isStoreAway,
      onGone: (link) => platform.gone(link),
      onReport(node, link, report) {
        if (report.kind === 'ready' && node.role !== 'worker') platform.joined(link);
        if (report.kind === 'acknowledged' || report.kind === 'rejected' || report.kind === 'post')
          platform.heard(link, report);
        if (report.kind === 'committed' && report.isStale) commits[report.isForced ? 'forced' : 'refused'] += 1;
        if (report.kind === 'trapped') executioner.trapped(node, report);
      },
    }),
  );
  await fleet.ready(READY_LIMIT_MS);
  const plan = planFaults(deployment, chance('faults'), options);
  const ticking = setInterval(() => platform.tick(), 100);
  things.defer(() => clearInterval(ticking));
  const progress = setInterval(
    () => options.onProgress(wordsFor(platform.record, executioner.toll, court.damage)),
    5000,
  );
  things.defer(() => clearInterval(progress));
  await Promise.all([talk(platform, options, executioner.progress), executioner.carryOut(plan, fleet.nodes)]);

  platform.recover();
  model.recover();
  await fleet.ready(READY_LIMIT_MS);
  const owed = await drained(court, signal);
  const ends = await fleet.stop();
  const after = court.damage.length > 0 ? [] : await court.look(owedOf);
  const { rows } = court.evidence();
  const problems = [...fleet.surprises, ...ends].map((what) => ({ invariant: 'process', what }));
  const summaries = rows.summaries.filter(({ kind }) => kind === 'summary');
  return {
    deployment,
    servers: servers.names,
    messages: platform.record.messages.size,
    toll: executioner.toll,
    summaries: summaries.filter(({ level }) => level === 0).length,
    condensed: summaries.filter(({ level }) => level > 0).length,
    memories: new Set(rows.memories.map(({ id }) => id)).size,
    modelCalls: Object.values(model.record.calls).reduce((sum, count) => sum + count, 0),
    modelFaults: model.record.faults,
    staleRefused: commits.refused,
    staleForced: commits.forced,
    redelivered: platform.record.redelivered,
    recognised: platform.record.recognised,
    doublePosts: doublePosts(platform.record).length,
    lost: court.lost(),
    looks: court.looks,
    damage: [...court.damage, ...distinct([...owed, ...after]), ...problems],
    answers: answerTimes(platform.record),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

function rolesOf({ deployment, gateways, workers }: RunOptions): readonly ('gateway' | 'worker' | 'all')[] {
  if (deployment.number === 1) return ['all'];
  return [
    ...Array.from({ length: gateways }, () => 'gateway' as const),
    ...Array.from({ length: workers }, () => 'worker' as const),
  ];
}

/** Evenly, as long as things go wrong. */
async function talk(platform: Platform, { messages, signal }: RunOptions, progress: () => number): Promise<void> {
  for (let said = 0; said < messages; ) {
    signal.throwIfAborted();
    const due = Math.ceil(messages * progress());
    for (; said < due; said += 1) platform.say();
    await sleep(TRAFFIC_STEP_MS);
  }
}

/** Looks until nothing is owed. Gives what still is when the time is over. What is broken already is not waited for. */
async function drained(court: Court, signal: AbortSignal): Promise<readonly Damage[]> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    signal.throwIfAborted();
    const owed = await court.look(owedOf);
    if (court.damage.length > 0) return [];
    if (owed.length === 0 || performance.now() > deadline) return owed;
    await sleep(500);
  }
}

function distinct(damage: readonly Damage[]): readonly Damage[] {
  return [...new Map(damage.map((one) => [one.what, one])).values()];
}

function wordsFor({ messages }: PlatformRecord, toll: Toll, damage: readonly Damage[]): string {
  const accepted = [...messages.values()].filter(({ acceptedAt }) => acceptedAt !== null).length;
  const kills = toll.gateway + toll.worker + toll.all + toll.redis + toll.postgres;
  return `${messages.size} said, ${accepted} stored, ${kills} kills, damage: ${damage.length}`;
}

function answerTimes({ messages }: PlatformRecord): RunResult['answers'] {
  const times = [...messages.values()]
    .flatMap(({ asks, sentAt, answeredAt }) => (asks && answeredAt !== null ? [answeredAt - sentAt] : []))
    .toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { median: at(0.5), p99: at(0.99), longest: times.at(-1) ?? 0 };
}
