import { z } from 'zod';
import type { StateStore } from '../../ports/journal.ts';
import type { Conversation } from '../../ports/store.ts';

const failureSchema = z.object({
  /** The seq that the failed turn had read: the failure is over as soon as a later message is answered. */
  readUpto: z.int(),
  at: z.number(),
  message: z.string(),
});
/** The newest turn that ended in an apology. */
export type LastFailure = z.infer<typeof failureSchema>;

const NAME = 'last-failure';

export async function keepFailure(
  state: StateStore,
  { id, revision }: Pick<Conversation, 'id' | 'revision'>,
  failure: LastFailure,
): Promise<void> {
  await state.of(id).set(NAME, failure, { quotes: revision });
}

/** Null if the newest answer was not a failure. */
export async function lastFailureOf(
  state: StateStore,
  { id, answeredUpto }: Pick<Conversation, 'id' | 'answeredUpto'>,
): Promise<LastFailure | null> {
  const { success, data } = failureSchema.safeParse(await state.of(id).get(NAME));
  return success && data.readUpto === answeredUpto ? data : null;
}
