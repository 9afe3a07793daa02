import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Log,
  loadOptional,
  type Queue,
  type QueueAdapter,
  type QueuePlace,
  requireObject,
  StrataError,
} from '../../../src/adapter-kit.ts';
import type { Driver, Malformed } from './driver.ts';
import { createDriver, isRedis } from './drivers.ts';
import { createKicks, type Kicks } from './kicks.ts';
import { createTrouble, type Trouble } from './trouble.ts';
import { routeWarnings } from './warnings.ts';
import { createWork, type Work } from './work.ts';
import { createWorkerWatch, type WorkerWatch } from './worker-watch.ts';

/** The options of `createBullMqQueue`. */
export interface BullMqOptions {
  /** `redis://`, `rediss://`, `postgres://` or `postgresql://`. Any number of bots can share the server. */
  readonly url: string;
  /** The storage of the bot. Processes share jobs only if they share this store. */
  readonly storage: QueuePlace['storage'];
  readonly log: Log;
  /** Called when the server or a handler fails, and once a minute while the failure lasts. */
  readonly onTrouble: (message: string) => void;
  /** Prefix of the names on the server. Default "strata". */
  readonly prefix?: string;
  /** First pause after a rejected handler; doubles each time. Default 2000. */
  readonly retryDelayMs?: number;
}

const IDLE_LOOK_MS = 15;
/** The clock of the machine may be set while the process runs. */
const now = () => performance.now();
const NO_URL =
  'createBullMqQueue needs a url such as redis://127.0.0.1:6379 or postgres://user:password@host/database.';

/**
 * A queue for several processes. It connects on first use. While its server is unreachable, only summaries are delayed:
 * kicks are remembered, one per conversation, and sent once it is back.
 *
 * @example
 * const log = createPinoLog({ level: 'info' });
 * const storage = await createPostgresStorage({ url: 'postgres://127.0.0.1/strata' });
 * const queue = createBullMqQueue({ url: 'redis://127.0.0.1:6379', storage, log, onTrouble: console.error });
 */
export function createBullMqQueue(options: BullMqOptions): Queue {
  requireObject(options, 'createBullMqQueue', '{ url: "redis://127.0.0.1:6379", storage, log, onTrouble }');
  if (!isServer(options.url)) throw new StrataError('USAGE', { problem: NO_URL });
  const state = createState(options);
  const { kicks, delayed, trouble, rejections } = state;
  return {
    kick: (id, kick) => ask(state, id, kick?.delayMs ?? 0),
    process(handler, options) {
      requireObject(options, 'queue.process', '{ concurrency: 4, signal }');
      const { concurrency, signal } = options;
      kicks.open();
      const { driver, onError, onMalformed } = state;
      const kick = (id: number) => kicks.put(id);
      const isReachable = () => trouble.current() === null;
      const reports = { onError, onMalformed, rejections };
      state.work ??= createWork({ driver, handler, concurrency, signal, ...reports, kick, isReachable });
    },
    idle: () => idle(state),
    stats() {
      kicks.open();
      kicks.refresh();
      return {
        driver: `bullmq on ${state.driver.where}`,
        waiting: kicks.counts.waiting + kicks.unsent,
        running: state.work?.running ?? 0,
        delayed: delayed.size + kicks.counts.delayed,
        trouble: trouble.current() ?? state.watch.current() ?? rejections.current(),
      };
    },
    async close(options) {
      requireObject(options, 'queue.close', '{ deadlineMs: 5000 }');
      await close(state, options.deadlineMs);
    },
  };
}

/** Redis takes any other path for database 0 of this machine. */
function isServer(url: unknown): boolean {
  if (typeof url !== 'string' || !/^(?:rediss?|postgres(?:ql)?):\/\//.test(url) || !URL.canParse(url)) return false;
  return !isRedis(url) || /^\/?\d*$/.test(new URL(url).pathname);
}

const BOARD_PACKAGES = ['@bull-board/api', '@bull-board/express'];

/** Loaded on request, because only operators need it. */
export const bullMqAdapter: QueueAdapter = {
  create: createBullMqQueue,
  check: async (place) => (await import('./check.ts')).checkQueue(place),
  openBoard: async (options) => {
    const { openBoard } = await loadOptional(BOARD_PACKAGES, () => import('./board.ts'));
    return await openBoard(options);
  },
};

interface State {
  readonly driver: Driver;
  readonly kicks: Kicks;
  /**
   * Kept in this process, not on the server: an immediate kick replaces it, and the sweeper finds those of a process
   * that died.
   */
  readonly delayed: Map<number, { readonly dueAt: number; readonly timer: NodeJS.Timeout }>;
  readonly trouble: Trouble;
  readonly rejections: Trouble;
  readonly onError: (error: unknown) => void;
  readonly onMalformed: (job: Malformed) => void;
  readonly watch: WorkerWatch;
  readonly endWarnings: () => void;
  work: Work | null;
  isClosed: boolean;
}

function createState(options: BullMqOptions): State {
  const { log, onTrouble } = options;
  const driver = createDriver(options);
  const trouble = createTrouble({ name: 'connection', log, onTrouble, now });
  const rejections = createTrouble({ name: 'rejected', log, onTrouble, now });
  const kicks = createKicks({ driver, trouble, now });
  const taking = createTrouble({ name: 'worker', log, onTrouble, now });
  const watch = createWorkerWatch({ trouble: taking, where: driver.where, now });
  // While the server is unreachable, the check reports that, and the worker's own error says no more.
  const onError = (error: unknown) =>
    kicks.look().then(
      () => watch.failed(error),
      () => undefined,
    );
  const onMalformed = (job: Malformed) => log.warn('queue.malformed', { ...job });
  const reports = { trouble, rejections, onError, onMalformed, watch };
  const endWarnings = routeWarnings(log);
  return { driver, kicks, delayed: new Map(), ...reports, endWarnings, work: null, isClosed: false };
}

function ask({ kicks, delayed, isClosed }: State, id: number, delayMs: number): void {
  if (isClosed) return;
  const earlier = delayed.get(id);
  const dueAt = now() + delayMs;
  if (delayMs > 0 && earlier !== undefined && earlier.dueAt <= dueAt) return;
  clearTimeout(earlier?.timer);
  const fire = () => {
    delayed.delete(id);
    kicks.put(id);
  };
  if (delayMs <= 0) fire();
  else delayed.set(id, { dueAt, timer: setTimeout(fire, Math.min(delayMs, MAX_TIMER_MS)).unref() });
}

/** Longer timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * If several processes work on a queue, everything that waits or runs counts, because it may belong to this process.
 */
async function idle(state: State): Promise<void> {
  while (!state.isClosed) {
    const isQuiet = state.kicks.unsent === 0 && (state.work?.running ?? 0) === 0;
    if (isQuiet && (state.work === null || (await isDone(state)))) return;
    await sleep(IDLE_LOOK_MS);
  }
}

async function isDone({ kicks }: State): Promise<boolean> {
  const counts = await kicks.look().catch(() => null);
  return counts !== null && counts.waiting + counts.active === 0 && kicks.unsent === 0;
}

async function close(state: State, deadlineMs: number): Promise<void> {
  state.isClosed = true;
  for (const { timer } of state.delayed.values()) clearTimeout(timer);
  state.delayed.clear();
  await state.work?.close({ deadlineMs });
  await state.kicks.close().catch(() => undefined);
  state.endWarnings();
}
