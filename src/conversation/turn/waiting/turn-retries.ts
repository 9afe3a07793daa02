import { z } from 'zod';
import { describe } from '../../../domain/errors.ts';
import type { StateStore } from '../../../ports/journal.ts';
import type { Claim, Conversation } from '../../../ports/store.ts';
import type { Services } from '../../../services.ts';
import { backoffMs } from '../../../util/async/backoff.ts';

const delayedTurnSchema = z.object({
  /** The seq answered at that time. The failure is over as soon as a later message is answered. */
  answeredUpto: z.int(),
  failures: z.int().min(1),
  nextAttemptAt: z.number(),
  message: z.string(),
});
/** A turn that failed without a result, not even an apology. Its reply is still owed. */
export type DelayedTurn = z.infer<typeof delayedTurnSchema>;

const NAME = 'setback';

export async function delayedTurnOf(
  state: StateStore,
  { id, answeredUpto }: Pick<Conversation, 'id' | 'answeredUpto'>,
): Promise<DelayedTurn | null> {
  const { success, data } = delayedTurnSchema.safeParse(await state.of(id).get(NAME));
  return success && data.answeredUpto === answeredUpto ? data : null;
}

/**
 * The claim lasts longer with each failure, so that no process pays for the same turn over and over. If the store is
 * unavailable, the claim expires.
 */
export async function postpone(
  services: Services,
  {
    claim,
    conversation,
    error,
  }: { readonly claim: Claim; readonly conversation: Conversation; readonly error: unknown },
): Promise<void> {
  const { store, state, clock, random, events } = services;
  const message = describe(error);
  const earlier = await delayedTurnOf(state, conversation).catch(() => null);
  const failures = (earlier?.failures ?? 0) + 1;
  const nextAttemptAt = clock.now() + backoffMs({ failures, chance: random.next(), retryAfterMs: null });
  events.emit({ kind: 'turn.delayed', conversation: conversation.key, message, failures, nextAttemptAt });
  const { id, answeredUpto, revision } = conversation;
  const failure = { answeredUpto, failures, nextAttemptAt, message };
  await state.of(id).set(NAME, failure, { quotes: revision });
  await store.conversations.renew('reply', claim, nextAttemptAt);
}
