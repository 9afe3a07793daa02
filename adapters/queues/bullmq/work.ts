import { describe, endsWithin, type QueueHandler } from '../../../src/adapter-kit.ts';
import type { Consumer, ConsumerOptions, Driver, Look } from './driver.ts';
import type { Trouble } from './trouble.ts';

/** Runs the handler for the jobs that this process takes. */
export interface Work {
  readonly running: number;
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

export interface WorkOptions {
  readonly driver: Driver;
  readonly handler: QueueHandler;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  readonly onMalformed: ConsumerOptions['onMalformed'];
  /** Reports handlers that reject. */
  readonly rejections: Trouble;
  readonly kick: (conversationId: number) => void;
  readonly isReachable: () => boolean;
}

interface State extends WorkOptions {
  /** `again`: a second job for it arrived while the first one runs, which a server that lost its memory allows. */
  readonly running: Map<number, { again: boolean }>;
  readonly idlers: Set<() => void>;
  readonly stop: AbortController;
  isClosed: boolean;
  consumer: Consumer | null;
  isConnected: boolean;
}

const CONNECT_AGAIN_MS = 1000;
/** Time after the deadline for recording what the abort interrupted. */
const GRACE_MS = 1000;
/** Time for telling the server what has ended. It does not respond while it is unreachable. */
const FAREWELL_MS = 1500;

export function createWork(options: WorkOptions): Work {
  const state: State = {
    ...options,
    running: new Map(),
    idlers: new Set(),
    stop: new AbortController(),
    isClosed: false,
    consumer: null,
    isConnected: false,
  };
  options.signal.addEventListener('abort', () => rest(state), { once: true });
  connect(state);
  return {
    get running() {
      return state.running.size;
    },
    close: ({ deadlineMs }) => close(state, deadlineMs),
  };
}

/** Until the first connection; from then on the driver reconnects by itself. */
function connect(state: State): void {
  if (state.isClosed) return;
  const { driver, concurrency, onError, onMalformed } = state;
  const consumer = driver.consume(lookOf(state), {
    concurrency,
    onMalformed,
    onError: (error) => state.isClosed || onError(error),
  });
  state.consumer = consumer;
  consumer.ready().then(
    () => {
      state.isConnected = true;
    },
    (error: unknown) => {
      if (state.isClosed) return;
      onError(error);
      consumer.drop().catch(() => undefined);
      setTimeout(() => connect(state), CONNECT_AGAIN_MS).unref();
    },
  );
}

function rest(state: State): void {
  state.stop.abort();
  state.consumer?.pause().catch(() => undefined);
}

function lookOf(state: State): Look {
  return async (conversationId, { giveBack }) => {
    if (state.isClosed || state.stop.signal.aborted) return await giveBack();
    const current = state.running.get(conversationId);
    if (current !== undefined) current.again = true;
    else await run(state, conversationId);
  };
}

async function run(state: State, conversationId: number): Promise<void> {
  const self = { again: false };
  state.running.set(conversationId, self);
  try {
    await state.handler(conversationId, { signal: state.stop.signal });
    state.rejections.over();
  } catch (error) {
    state.rejections.met(`The job of conversation ${conversationId} failed: ${describe(error)}`);
    throw error;
  } finally {
    state.running.delete(conversationId);
    if (self.again) state.kick(conversationId);
    if (state.running.size === 0) for (const tell of state.idlers) tell();
  }
}

async function close(state: State, deadlineMs: number): Promise<void> {
  state.isClosed = true;
  state.consumer?.pause().catch(() => undefined);
  const ended = new Promise<void>((resolve) => {
    state.idlers.add(resolve);
    if (state.running.size === 0) resolve();
  });
  if (!(await endsWithin(ended, deadlineMs))) {
    state.stop.abort();
    await endsWithin(ended, GRACE_MS);
  }
  const { consumer } = state;
  if (consumer === null) return;
  // Without a connection there is no worker to close, and BullMQ would wait for one.
  const isAtRest = state.isConnected && state.isReachable() && state.running.size === 0;
  if (
    isAtRest &&
    (await endsWithin(
      consumer.close().catch(() => undefined),
      FAREWELL_MS,
    ))
  )
    return;
  await endsWithin(
    consumer.drop().catch(() => undefined),
    FAREWELL_MS,
  );
}
