import { type Clock, DAY_MS } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import type { Ending } from './socket.ts';

/** This many quick failures in a row do not increase the pauses. */
const FORGIVEN = 3;
const SHORT_PAUSE_MS = 500;
const FIRST_PAUSE_MS = 2_000;
/** A bot that sends a thousand identifications within a day loses its token. */
const MAX_PAUSE_MS = 300_000;
/** While enough identifications are left, or if an attempt did not identify. */
const MAX_CHEAP_PAUSE_MS = 30_000;
/** After a connection that was ready, or a refusal to resume, because the server is then reachable. */
const MAX_LOST_PAUSE_MS = 8_000;
/** Discord wants a random pause of one to five seconds after an unknown session. */
const UNKNOWN_PAUSE_MS = 1_000;
/** A connection that lasted this long counts as good. */
const GOOD_MS = 60_000;

export interface Pauses {
  /** How long to wait before the next attempt, in milliseconds. `isScarce`: few identifications are left. */
  after(ending: Pick<Ending, 'isSpent' | 'readyMs' | 'isUnknown'>, isScarce: boolean): number;
}

/** Slows down one shard that cannot connect or keeps losing its connection. `chance`: from 0 to 1. */
export function createPauses(chance: () => number): Pauses {
  let failures = 0;
  return {
    after({ isSpent, readyMs, isUnknown }, isScarce) {
      failures = readyMs >= GOOD_MS ? 1 : failures + 1;
      const isReached = readyMs > 0 || (isUnknown && !isSpent);
      const cheapMs = isReached ? MAX_LOST_PAUSE_MS : MAX_CHEAP_PAUSE_MS;
      const pauseMs = pauseAfter(failures, { chance: chance(), maxMs: isSpent && isScarce ? MAX_PAUSE_MS : cheapMs });
      return isUnknown ? Math.max(pauseMs, Math.round(UNKNOWN_PAUSE_MS * (1 + 4 * chance()))) : pauseMs;
    },
  };
}

/** With jitter of up to a quarter either way. */
export function pauseAfter(
  failures: number,
  { chance, maxMs = MAX_PAUSE_MS }: { readonly chance: number; readonly maxMs?: number },
): number {
  const grown = failures <= FORGIVEN ? SHORT_PAUSE_MS : FIRST_PAUSE_MS * 2 ** (failures - FORGIVEN - 1);
  return Math.round(Math.min(maxMs, grown) * (0.75 + chance / 2));
}

/**
 * Discord accepts one identification per five seconds for each concurrency group of shards, counted from when it
 * receives them. One that arrives too early is refused, but still counts towards the daily limit.
 */
const IDENTIFY_PACE_MS = 5_300;

export interface IdentifyPace {
  /** Resolves when the next shard of the group may identify; rejects when the signal is aborted. */
  wait(group: number, signal: AbortSignal): Promise<void>;
  /** Whether half of what was left for a day is used up. */
  isScarce(left: number): boolean;
}

export function createIdentifyPace(clock: Clock): IdentifyPace {
  const queues = new Map<number, { readonly at: number; readonly ms: number }>();
  let spentAt: readonly number[] = [];
  const lately = () => spentAt.filter((at) => clock.now() - at < DAY_MS);
  return {
    async wait(group, signal) {
      const queue = queues.get(group);
      const leftMs = queue === undefined ? 0 : Math.max(0, queue.ms - elapsedMs(clock, queue.at));
      queues.set(group, { at: clock.now(), ms: leftMs + IDENTIFY_PACE_MS });
      if (leftMs > 0) await clock.sleep(leftMs, { signal });
      spentAt = [...lately(), clock.now()];
    },
    isScarce: (left) => lately().length > left / 2,
  };
}
