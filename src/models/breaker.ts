import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../ports/clock.ts';
import type { Events } from '../ports/events.ts';
import type { StateStore } from '../ports/journal.ts';
import { createLanes } from '../util/async/lanes.ts';
import { isPaused } from '../util/async/pause.ts';
import { MINUTE_MS } from '../util/time/time.ts';

/** The stored state of a summary model: consecutive failures, and until when it is paused. */
const breakerSchema = z.object({
  failures: z.int().min(0),
  /** Number of pauses since the last success. */
  pauses: z.int().min(0),
  untilAt: z.number().nullable(),
  message: z.string(),
  /** Marks of the places whose text may have caused a failure, since the last success. */
  places: z.array(z.string()).default([]),
});
export type BreakerState = z.infer<typeof breakerSchema>;

const FAILURES_TO_OPEN = 5;
const MAX_MARKS = 100;
const MARK_LENGTH = 12;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 10 * MINUTE_MS;
const NAMESPACE = 'breaker';
const CLOSED: BreakerState = { failures: 0, pauses: 0, untilAt: null, message: '', places: [] };

export interface ModelFailureSeen {
  /** A rejected key will be rejected again, so one such answer opens the breaker. */
  readonly auth: boolean;
  readonly message: string;
  /**
   * The place whose text may be the cause, as with a refused or useless answer. It counts once: otherwise one person's
   * text could pause the model for everybody. Null if it says something about the model itself.
   */
  readonly place: string | null;
}

/** The state after one more failure. After a pause, the first failure opens the breaker again, for twice as long. */
export function afterFailure(state: BreakerState, failure: ModelFailureSeen, now: number): BreakerState {
  const { auth, message, place } = failure;
  const mark = place === null ? null : markOf(place);
  if (mark !== null && state.places.includes(mark)) return state;
  const failures = state.failures + 1;
  const places = mark === null ? state.places : [...state.places, mark].slice(-MAX_MARKS);
  const opens = auth || failures >= FAILURES_TO_OPEN || state.pauses > 0;
  if (!opens) return { ...state, failures, message, places };
  const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** state.pauses);
  return { failures, pauses: state.pauses + 1, untilAt: now + pauseMs, message, places };
}

/** The state is not deleted with a conversation, so it does not name one. */
function markOf(place: string): string {
  return hash('sha256', place, 'base64url').slice(0, MARK_LENGTH);
}

interface Pause {
  readonly untilAt: number;
  readonly message: string;
}

/**
 * Pauses a model for all conversations after repeated failures, across restarts. After a pause, calls are allowed
 * again, and the first one decides whether the breaker opens again.
 */
export interface Breaker {
  /** When the model can be called again; null if it can be called now. */
  pausedUntil(modelId: string): Promise<Pause | null>;
  failed(modelId: string, failure: ModelFailureSeen): Promise<void>;
  succeeded(modelId: string): Promise<void>;
}

export function createBreaker(options: {
  readonly state: StateStore;
  readonly events: Events;
  readonly clock: Pick<Clock, 'now'>;
}): Breaker {
  const { state, events, clock } = options;
  // Reading and writing are two steps, so they are serialised: otherwise a failure could be lost.
  const lanes = createLanes();
  return {
    async pausedUntil(modelId) {
      return pauseIn(await readBreaker(state, modelId), clock.now());
    },
    failed: (modelId, failure) =>
      lanes.run([modelId], async () => {
        const before = await readBreaker(state, modelId);
        const now = clock.now();
        // Calls that were already running when the breaker opened add no information.
        if (pauseIn(before, now) !== null) return;
        const after = afterFailure(before, failure, now);
        if (after === before) return;
        await state.set(NAMESPACE, modelId, after);
        if (after.untilAt === null) return;
        const { message, untilAt } = after;
        events.emit({ kind: 'breaker.opened', conversation: null, model: modelId, untilAt, message });
      }),
    succeeded: (modelId) =>
      lanes.run([modelId], async () => {
        const before = await readBreaker(state, modelId);
        if (before.failures === 0) return;
        await state.delete(NAMESPACE, modelId);
        if (before.pauses > 0) events.emit({ kind: 'breaker.closed', conversation: null, model: modelId });
      }),
  };
}

async function readBreaker(state: StateStore, modelId: string): Promise<BreakerState> {
  const stored = breakerSchema.safeParse(await state.get(NAMESPACE, modelId));
  return stored.success ? stored.data : CLOSED;
}

function pauseIn({ untilAt, message }: BreakerState, now: number): Pause | null {
  return isPaused(untilAt, { now, maxMs: MAX_PAUSE_MS }) ? { untilAt, message } : null;
}

export interface PausedModel extends Pause {
  readonly model: string;
}

/** The models that are currently paused, for `/status`. */
export async function pausedModels(state: StateStore, now: number): Promise<readonly PausedModel[]> {
  const rows = await state.list(NAMESPACE);
  return rows.flatMap(({ key, value }) => {
    const { data } = breakerSchema.safeParse(value);
    const pause = data === undefined ? null : pauseIn(data, now);
    return pause === null ? [] : [{ model: key, ...pause }];
  });
}
