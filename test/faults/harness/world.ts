import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configText } from './config-text.ts';
import { type Court, createCourt } from './court.ts';
import type { Deployment } from './deployments.ts';
import { createExecutioner, type Executioner } from './executioner.ts';
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts';
import { createModelServer, type ModelManners, type ModelServer } from './model.ts';
import { createPlatform, type Platform } from './platform.ts';
import { type Chance, createChance } from './random.ts';
import { readPostgres, readSqlite } from './rows.ts';
import { type Servers, startServers } from './servers.ts';

/** A running deployment and everything around it. Disposing of it removes everything. */
export interface World extends AsyncDisposable {
  readonly deployment: Deployment;
  readonly servers: Servers;
  readonly model: ModelServer;
  readonly platform: Platform;
  readonly court: Court;
  readonly executioner: Executioner;
  readonly fleet: Fleet;
  /** Commits that came too late. */
  readonly commits: { readonly refused: number; readonly forced: number };
  chance(stream: string): Chance;
}

export interface WorldOptions {
  readonly deployment: Deployment;
  readonly seed: number;
  readonly conversations: number;
  readonly gateways: number;
  readonly workers: number;
  /** Compare-and-set is switched off: the run must find damage. */
  readonly ignoresCompareAndSet: boolean;
  /** Uses js-redis-server even if a real Redis is found. */
  readonly isJavaScript: boolean;
  readonly signal: AbortSignal;
}

const WINDOW_TOKENS = 5000;
const TICK_MS = 100;
const MANNERS: ModelManners = {
  replyLatencyMs: [5, 80],
  summaryLatencyMs: [50, 400],
  replyFaults: 0.04,
  summaryFaults: 0.12,
};

export async function openWorld(options: WorldOptions): Promise<World> {
  const { deployment, seed, signal } = options;
  const chance = (stream: string) => createChance(seed, `${deployment.number} ${stream}`);
  await using things = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'strata-faults-'));
  things.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  const servers = things.use(await startServers(deployment, options));
  const setting = { chance: chance('model'), manners: MANNERS, windowTokens: WINDOW_TOKENS };
  const model = things.use(await createModelServer(setting));
  const place = await furnish({ deployment, directory, servers, model });
  const platform = createPlatform({ chance: chance('platform'), conversations: options.conversations, now: Date.now });
  const ticking = setInterval(() => platform.tick(), TICK_MS);
  things.defer(() => clearInterval(ticking));
  const court = createCourt({ read: place.read, platform: platform.record, model: model.record });
  const executioner = createExecutioner({ servers, court, signal });
  const commits = { refused: 0, forced: 0 };
  const restart = chance('restart');
  const fleet = things.use(
    startFleet({
      roles: rolesOf(options),
      directory,
      config: place.config,
      ignoresCompareAndSet: options.ignoresCompareAndSet,
      restartMs: () => restart.between(100, 1200),
      isExcused: executioner.isStoreAway,
      onGone: (link) => platform.gone(link),
      onReport: listen({ platform, executioner, commits }),
    }),
  );
  const owned = things.move();
  return {
    deployment,
    servers,
    model,
    platform,
    court,
    executioner,
    fleet,
    commits,
    chance,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Furnishing {
  readonly deployment: Deployment;
  readonly directory: string;
  readonly servers: Servers;
  readonly model: ModelServer;
}

/** The configuration file, and a reader for the store it names. */
async function furnish({ deployment, directory, servers, model }: Furnishing) {
  const database = (await servers.postgres?.database('strata')) ?? '';
  const queue = { local: '', redis: servers.redis?.url ?? '', postgres: database }[deployment.queue];
  const config = join(directory, 'config.toml');
  const text = configText({ directory, storage: database, queue, model: model.url, windowTokens: WINDOW_TOKENS });
  await writeFile(config, text);
  return { config, read: deployment.store === 'postgres' ? readPostgres(database) : readSqlite(directory) };
}

interface Listeners extends Pick<World, 'platform' | 'executioner'> {
  readonly commits: { refused: number; forced: number };
}

function listen({ platform, executioner, commits }: Listeners): FleetOptions['onReport'] {
  return (node, link, report) => {
    switch (report.kind) {
      case 'ready':
        if (node.role !== 'worker') platform.joined(link);
        break;
      case 'committed':
        if (report.isStale) commits[report.isForced ? 'forced' : 'refused'] += 1;
        break;
      case 'trapped':
        executioner.trapped(node, report);
        break;
      case 'acknowledged':
      case 'rejected':
      case 'post':
        platform.heard(link, report);
        break;
      default:
        report satisfies never;
    }
  };
}

function rolesOf({ deployment, gateways, workers }: WorldOptions): FleetOptions['roles'] {
  if (deployment.number === 1) return ['all'];
  return [...Array(gateways).fill('gateway'), ...Array(workers).fill('worker')];
}
