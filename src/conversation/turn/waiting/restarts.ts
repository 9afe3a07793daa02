import type { Clock } from '../../../ports/clock.ts';
import type { Claim, ConversationStore } from '../../../ports/store.ts';
import { holdLease } from '../../../util/async/lease.ts';

const FREE_RESTARTS = 2;
const BASE_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

/** How long a turn waits that was overtaken this often by edits or deletions: each restart costs another model call. */
export function restartPauseMs(restarts: number): number {
  if (restarts <= FREE_RESTARTS) return 0;
  return Math.min(MAX_PAUSE_MS, BASE_PAUSE_MS * 2 ** (restarts - FREE_RESTARTS - 1));
}

/** How often the turn that follows `answeredUpto` was overtaken. Counts for one turn at a time. */
export interface RestartCount {
  of(answeredUpto: number): number;
  add(answeredUpto: number): void;
}

export function createRestartCount(): RestartCount {
  let counted = { answeredUpto: -1, restarts: 0 };
  const of = (answeredUpto: number): number => (counted.answeredUpto === answeredUpto ? counted.restarts : 0);
  return {
    of,
    add(answeredUpto) {
      counted = { answeredUpto, restarts: of(answeredUpto) + 1 };
    },
  };
}

export interface RestartOptions {
  readonly conversations: Pick<ConversationStore, 'renew' | 'release'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Ends the pause when the bot is asked to stop. The reply stays owed. */
  readonly signal: AbortSignal;
}

/** Keeps the claim during the pause, so that no other process starts the turn. False if the turn may no longer start. */
export async function waitToRestart(options: RestartOptions, claim: Claim, restarts: number): Promise<boolean> {
  const pauseMs = restartPauseMs(restarts);
  if (pauseMs === 0) return true;
  using lease = holdLease({ ...options, work: 'reply' }, claim);
  try {
    await options.clock.sleep(pauseMs, { signal: lease.signal });
    return true;
  } catch {
    await options.conversations.release(claim, { work: 'reply', answeredUpto: null });
    return false;
  }
}
