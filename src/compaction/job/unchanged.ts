import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';

/** A text that a job has read was edited or deleted: nothing more of it may be sent. */
class TextChanged extends Error {
  override readonly name = 'TextChanged';
}

/** Rejects with what `orIfChanged` recognises if a message up to this one was edited or deleted since it was read. */
export async function assertUnchanged(
  { store }: Pick<Services, 'store'>,
  { id, revision }: Pick<Conversation, 'id' | 'revision'>,
  toSeq: number,
): Promise<void> {
  const changed = await store.journal.requests.changedSince(id, { fromSeq: 1, toSeq, revision });
  if (changed.length > 0) throw new TextChanged();
}

/** The result of the work, or the other one if a text that it had read was changed. */
export async function orIfChanged<Result>(work: Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TextChanged) return otherwise;
    throw error;
  }
}
