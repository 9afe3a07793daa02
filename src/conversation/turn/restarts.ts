import type { Clock } from '../../ports/clock.ts';
import type { Claim, Conversation, ConversationStore } from '../../ports/store.ts';
import { holdLease } from '../../util/lease.ts';

const FREE_RESTARTS = 2;
const BASE_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

/** How often the turn after `answeredUpto` was overtaken. */
export interface Overtaken {
  readonly answeredUpto: number;
  readonly restarts: number;
}

export const NEVER_OVERTAKEN: Overtaken = { answeredUpto: -1, restarts: 0 };

export function overtakenAgain(before: Overtaken, { answeredUpto }: Pick<Conversation, 'answeredUpto'>): Overtaken {
  return { answeredUpto, restarts: (before.answeredUpto === answeredUpto ? before.restarts : 0) + 1 };
}

/** How long a turn waits that was overtaken this often by edits or deletions: each restart costs another model call. */
export function restartPauseMs(restarts: number): number {
  if (restarts <= FREE_RESTARTS) return 0;
  return Math.min(MAX_PAUSE_MS, BASE_PAUSE_MS * 2 ** (restarts - FREE_RESTARTS - 1));
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
