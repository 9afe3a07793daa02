import type { MemoryId } from '../domain/message.ts';
import type { Claim, Conversation } from '../ports/store.ts';
import type { Services } from '../services.ts';

/** The conversation of a turn that may continue; null once it has lost its claim or a memory that it was given. */
export async function standingOf(
  { store, provenance }: Pick<Services, 'store' | 'provenance'>,
  { conversationId, epoch }: Claim,
  given: readonly MemoryId[],
): Promise<Conversation | null> {
  const now = await store.conversations.get(conversationId);
  if (now?.replyEpoch !== epoch) return null;
  const isReadable = given.length === 0 || (await provenance.areReadable(conversationId, given));
  return isReadable ? now : null;
}
