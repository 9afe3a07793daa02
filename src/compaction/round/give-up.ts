import { describe, isStrataError } from '../../domain/errors.ts';
import { failureOf, isOverflow, seenOf } from '../../models/failure.ts';
import type { ReleaseOutcome } from '../../ports/conversation-changes.ts';
import type { MaintainResult } from '../../ports/engine.ts';
import type { Conversation } from '../../ports/store.ts';
import { backoffMs } from '../../util/async/backoff.ts';
import type { Progress } from './progress.ts';
import type { Task } from './task.ts';

/** The failure that ends a maintenance, and what was done before it. */
export interface Failed {
  readonly progress: Progress;
  readonly error: unknown;
}

/** Releases the claim. A failure changes only the time of the next attempt. */
export async function giveUp(task: Task, failed: Failed): Promise<MaintainResult> {
  const { services, claim, claimed, request, signal } = task;
  const { conversations } = services.store;
  const changed = failed.progress.done.length > 0;
  if (signal.aborted) {
    await conversations.release(claim, NOTHING_CHANGED);
    return { changed, reason: 'stopped before it finished' };
  }
  const reason = describe(failed.error);
  await countFailure(task, failed, claimed);
  const nextAttemptAt = nextAttemptAfter(task, failed.error);
  // A manual one happens once: the person gets the reason of a failure, and other work is not delayed.
  const isOnce = request.trigger === 'manual';
  const delayed = { work: 'maintenance', kind: 'failed', error: reason, nextAttemptAt } as const;
  await conversations.release(claim, isOnce ? NOTHING_CHANGED : delayed);
  if (!isOnce) announceDelay(task, reason, nextAttemptAt);
  return { changed, reason };
}

const NOTHING_CHANGED: ReleaseOutcome = { work: 'maintenance', kind: 'done', seenNextSeq: -1, maintainAt: null };

/** Counts a failure of the model for its breaker. */
export async function countFailure(
  { breaker }: Task,
  { progress, error }: Failed,
  conversation: Conversation,
): Promise<void> {
  const failure = failureOf(error);
  const modelId = failure.modelId ?? progress.summariser?.model.id ?? null;
  if (failure.isModels && modelId !== null) await breaker.failed(modelId, seenOf(failure, error, conversation));
}

function nextAttemptAfter({ services: { clock, random }, claimed }: Task, error: unknown): number {
  const { isTexts, retryAfterMs } = failureOf(error);
  const failures = claimed.failures + 1;
  const isCostly = isTexts || isOverflow(error);
  const waitMs = backoffMs({ failures, chance: random.next(), retryAfterMs, isCostly });
  const isNotYet = isStrataError(error, 'MODEL_PAUSED') || isStrataError(error, 'SPEND_CAPPED');
  return isNotYet ? error.data.untilAt : clock.now() + waitMs;
}

function announceDelay({ services, claim, claimed }: Task, message: string, nextAttemptAt: number): void {
  const { events, queue, clock } = services;
  const failures = claimed.failures + 1;
  events.emit({ kind: 'maintenance.delayed', conversation: claimed.key, message, nextAttemptAt, failures });
  queue.kick(claim.conversationId, { delayMs: nextAttemptAt - clock.now() });
}
