import {
  type Clock,
  createSystemClock,
  describe,
  endsWithin,
  type Log,
  type Queue,
  type QueueAdapter,
  type QueueHandler,
  requireObject,
} from '../../../src/adapter-kit.ts';

/** The options of `createLocalQueue`. None is required. */
export interface LocalQueueOptions {
  /** Default: none. */
  readonly log?: Log;
  /** Called with every rejected handler. */
  readonly onTrouble?: (message: string) => void;
  /** For delays and backoff. Default: the system clock. */
  readonly clock?: Clock;
  /** First pause after a rejected handler; doubles up to a minute. Default 1000. */
  readonly retryDelayMs?: number;
}

const MAX_RETRY_MS = 60_000;
/** Time after the deadline for recording what the abort interrupted. */
const GRACE_MS = 1000;

/** The queue of a single process. It stores nothing: the store knows what is due, and a sweep at startup finds it. */
export function createLocalQueue(options: LocalQueueOptions = {}): Queue {
  requireObject(options, 'createLocalQueue', '{ log }');
  const state = createState(options);
  return {
    kick: (id, kick) => ask(state, id, state.clock.now() + (kick?.delayMs ?? 0)),
    process(handler, options) {
      requireObject(options, 'queue.process', '{ concurrency: 4, signal }');
      const { concurrency, signal } = options;
      state.work = { handler, concurrency, signal: AbortSignal.any([state.stop.signal, signal]) };
      pump(state);
    },
    idle: () => idle(state),
    stats: () => ({
      driver: 'local',
      waiting: state.waiting.size,
      running: state.running.size,
      delayed: state.delayed.size,
      trouble: state.trouble,
    }),
    async close(options) {
      requireObject(options, 'queue.close', '{ deadlineMs: 5000 }');
      await close(state, options.deadlineMs);
    },
  };
}

/** Without a server there is nothing to check; `/status` and the metrics show what it does. */
export const localAdapter: QueueAdapter = { create: createLocalQueue, check: async () => [], openBoard: null };

interface Work {
  readonly handler: QueueHandler;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

interface State extends LocalQueueOptions {
  readonly clock: Clock;
  /** In the order of the kicks. */
  readonly waiting: Set<number>;
  /** `again`: when the next run is due, if it was kicked during this one. */
  readonly running: Map<number, { again: number | null }>;
  readonly delayed: Map<number, { readonly dueAt: number; readonly cancel: AbortController }>;
  readonly rejections: Map<number, number>;
  readonly idlers: Set<() => void>;
  readonly stop: AbortController;
  work: Work | null;
  trouble: string | null;
  closed: boolean;
}

function createState(options: LocalQueueOptions): State {
  return {
    ...options,
    clock: options.clock ?? createSystemClock(),
    waiting: new Set(),
    running: new Map(),
    delayed: new Map(),
    rejections: new Map(),
    idlers: new Set(),
    stop: new AbortController(),
    work: null,
    trouble: null,
    closed: false,
  };
}

function ask(state: State, id: number, dueAt: number): void {
  if (state.closed || state.waiting.has(id)) return;
  const current = state.running.get(id);
  if (current !== undefined) current.again = Math.min(current.again ?? dueAt, dueAt);
  else if (dueAt <= state.clock.now()) enqueue(state, id);
  else delay(state, id, dueAt);
}

function enqueue(state: State, id: number): void {
  state.delayed.get(id)?.cancel.abort();
  state.delayed.delete(id);
  state.waiting.add(id);
  pump(state);
}

function delay(state: State, id: number, dueAt: number): void {
  const earlier = state.delayed.get(id);
  if (earlier !== undefined && earlier.dueAt <= dueAt) return;
  earlier?.cancel.abort();
  const cancel = new AbortController();
  state.delayed.set(id, { dueAt, cancel });
  state.clock.sleep(dueAt - state.clock.now(), { signal: cancel.signal }).then(
    () => enqueue(state, id),
    () => undefined,
  );
}

function pump(state: State): void {
  for (const id of state.waiting) {
    const { work } = state;
    if (work === null || work.signal.aborted || state.running.size >= work.concurrency) return;
    state.waiting.delete(id);
    state.running.set(id, { again: null });
    // One turn of the event loop later, so that a kick returns before the handler does anything.
    setImmediate(run, state, id, work);
  }
}

async function run(state: State, id: number, work: Work): Promise<void> {
  let retryAt = Infinity;
  try {
    await work.handler(id, { signal: work.signal });
    state.rejections.delete(id);
    state.trouble = null;
  } catch (error) {
    retryAt = rejected(state, id, error);
  }
  const dueAt = Math.min(state.running.get(id)?.again ?? Infinity, retryAt);
  state.running.delete(id);
  if (dueAt !== Infinity) ask(state, id, dueAt);
  pump(state);
  settle(state);
}

/** When the next attempt is due. */
function rejected(state: State, id: number, error: unknown): number {
  const times = (state.rejections.get(id) ?? 0) + 1;
  state.rejections.set(id, times);
  state.trouble = `The job of conversation ${id} failed ${times === 1 ? 'once' : `${times} times`}: ${describe(error)}`;
  state.log?.warn('queue.rejected', { conversationId: id, times, error: describe(error) });
  state.onTrouble?.(state.trouble);
  return state.clock.now() + Math.min(MAX_RETRY_MS, (state.retryDelayMs ?? 1000) * 2 ** (times - 1));
}

function idle(state: State): Promise<void> {
  return new Promise((resolve) => {
    state.idlers.add(resolve);
    settle(state);
  });
}

function settle(state: State): void {
  if (state.waiting.size > 0 || state.running.size > 0) return;
  for (const resolve of state.idlers) resolve();
  state.idlers.clear();
}

async function close(state: State, deadlineMs: number): Promise<void> {
  state.closed = true;
  state.waiting.clear();
  for (const { cancel } of state.delayed.values()) cancel.abort();
  state.delayed.clear();
  const ended = idle(state);
  if (await endsWithin(ended, deadlineMs)) return;
  state.stop.abort();
  await endsWithin(ended, GRACE_MS);
}
