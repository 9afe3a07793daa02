import type { Counts, Driver, Producer } from './driver.ts';
import { isConsequence, reasonOf, type Trouble } from './trouble.ts';

/** Sends kicks to the server when it is reachable, one per conversation. A kick never waits for this. */
export interface Kicks {
  put(conversationId: number): void;
  /** Connects, unless that has already begun. */
  open(): void;
  /** Kicks that the server has not yet confirmed. */
  readonly unsent: number;
  /** The server's last counts. */
  readonly counts: Counts;
  /** Asks the server in the background, for the next caller. */
  refresh(): void;
  /** Asks the server now. Rejects if it is unreachable. */
  look(): Promise<Counts>;
  close(): Promise<void>;
}

export interface KicksOptions {
  readonly driver: Driver;
  readonly trouble: Trouble;
  readonly now: () => number;
}

/**
 * Maximum number of conversations remembered while the server is unreachable; the sweeper of a worker finds the others.
 */
const MAX_UNSENT = 10_000;
const AT_ONCE = 100;
const PULSE_MS = 1000;
const LOOK_EVERY_MS = 5000;
const FRESH_MS = 500;

interface State extends KicksOptions {
  /** In the order of the first kick. */
  readonly unsent: Set<number>;
  sending: number;
  producer: Producer | null;
  /** Stops connecting and retrying. */
  readonly end: AbortController;
  isOpen: boolean;
  isReady: boolean;
  isScheduled: boolean;
  isFailing: boolean;
  counts: Counts;
  lookedAt: number;
}

export function createKicks(options: KicksOptions): Kicks {
  const state: State = {
    ...options,
    unsent: new Set(),
    sending: 0,
    producer: null,
    end: new AbortController(),
    isOpen: false,
    isReady: false,
    isScheduled: false,
    isFailing: false,
    counts: { waiting: 0, active: 0, delayed: 0 },
    lookedAt: -Infinity,
  };
  return {
    put(conversationId) {
      if (state.end.signal.aborted) return;
      remember(state, conversationId);
      schedule(state);
    },
    open: () => open(state),
    get unsent() {
      return state.unsent.size + state.sending;
    },
    get counts() {
      return state.counts;
    },
    refresh() {
      if (state.isReady && state.now() - state.lookedAt > FRESH_MS) look(state).catch(() => undefined);
    },
    look: () => look(state),
    async close() {
      state.end.abort();
      state.unsent.clear();
      await state.producer?.close();
    },
  };
}

/**
 * Sends all kicks of this turn of the event loop together. After a failure, the timer or the restored connection
 * retries.
 */
function schedule(state: State): void {
  const canSend = state.isReady ? !state.isFailing && state.sending === 0 : !state.isOpen;
  if (!canSend || state.isScheduled) return;
  state.isScheduled = true;
  setImmediate(() => {
    state.isScheduled = false;
    open(state);
    void send(state);
  });
}

function remember({ unsent }: State, conversationId: number): void {
  if (unsent.size >= MAX_UNSENT && !unsent.has(conversationId)) {
    const [oldest] = unsent;
    if (oldest !== undefined) unsent.delete(oldest);
  }
  unsent.add(conversationId);
}

function open(state: State): void {
  const { signal } = state.end;
  if (state.isOpen || signal.aborted) return;
  state.isOpen = true;
  const pulse = setInterval(() => beat(state), PULSE_MS).unref();
  signal.addEventListener('abort', () => clearInterval(pulse), { once: true });
  connect(state);
}

/** Until the first connection; from then on the driver reconnects by itself. */
function connect(state: State): void {
  const { driver, end } = state;
  const producer = driver.produce({
    onError: (error) => met(state, error),
    onReady: () => void send(state),
  });
  state.producer = producer;
  producer.ready().then(
    () => {
      state.isReady = true;
      beat(state);
    },
    (error: unknown) => {
      if (end.signal.aborted) return;
      met(state, error);
      producer.close().catch(() => undefined);
      setTimeout(() => end.signal.aborted || connect(state), PULSE_MS).unref();
    },
  );
}

function beat(state: State): void {
  if (!state.isReady) return;
  void send(state);
  const waitMs = state.trouble.current() === null ? LOOK_EVERY_MS : 0;
  if (state.now() - state.lookedAt >= waitMs) look(state).catch(() => undefined);
}

/** A kick leaves the set before it is sent, so a kick that arrives in between is sent again. */
async function send(state: State): Promise<void> {
  const { producer, unsent, end } = state;
  if (producer === null || !state.isReady || state.sending > 0) return;
  while (unsent.size > 0 && !end.signal.aborted) {
    const batch = [...unsent].slice(0, AT_ONCE);
    for (const id of batch) unsent.delete(id);
    state.sending = batch.length;
    const results = await Promise.allSettled(batch.map((id) => producer.add(id)));
    state.sending = 0;
    const failed = results.flatMap((result, index) =>
      result.status === 'rejected' ? [{ id: batch[index], reason: result.reason }] : [],
    );
    for (const { id } of failed) if (id !== undefined && !end.signal.aborted) remember(state, id);
    state.isFailing = failed[0] !== undefined;
    if (failed[0] !== undefined) return met(state, failed[0].reason);
    state.trouble.over();
  }
}

async function look(state: State): Promise<Counts> {
  state.lookedAt = state.now();
  try {
    if (state.producer === null) throw new Error('it is not connected yet');
    state.counts = await state.producer.counts();
    // A server that only reads, or is full, still counts.
    if (!state.isFailing) state.trouble.over();
    return state.counts;
  } catch (error) {
    met(state, error);
    throw error;
  }
}

function met({ driver, trouble, end }: State, error: unknown): void {
  if (end.signal.aborted || (isConsequence(error) && trouble.current() !== null)) return;
  trouble.met(
    `${driver.where} cannot be used (${reasonOf(error)}): summaries wait until it is back, and replies continue.`,
  );
}
