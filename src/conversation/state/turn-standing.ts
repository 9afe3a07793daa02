import type { MemoryId } from '../../domain/message.ts';
import type { Claim, ContextSnapshot, Conversation, TurnCommit } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { newestMessage } from './snapshot.ts';

/** What a turn has read. */
export interface Standing {
  readonly claim: Claim;
  /** When the turn began. */
  readonly snapshot: ContextSnapshot;
  readonly given: readonly MemoryId[];
}

/**
 * The conversation of a turn that may continue; null once it has lost its claim or a memory that it was given, or a
 * person has edited what it read.
 */
export async function standingOf(
  { store, provenance }: Pick<Services, 'store' | 'provenance'>,
  { claim: { conversationId, epoch }, snapshot, given }: Standing,
): Promise<Conversation | null> {
  const now = await store.conversations.get(conversationId);
  if (now?.replyEpoch !== epoch) return null;
  if (now.revision > snapshot.conversation.revision && (await isEdited(store, snapshot))) return null;
  const isReadable = given.length === 0 || (await provenance.areReadable(conversationId, given));
  return isReadable ? now : null;
}

/** For the commit of the turn. */
export function readOf({ conversation }: ContextSnapshot): NonNullable<TurnCommit['read']> {
  return { fromSeq: conversation.compactedUpto + 1, revision: conversation.revision };
}

/** Bots edit their messages while they write them, so these do not count. */
async function isEdited({ transcript, journal }: Services['store'], snapshot: ContextSnapshot): Promise<boolean> {
  const { id } = snapshot.conversation;
  const range = { ...readOf(snapshot), toSeq: newestMessage(snapshot)?.seq ?? 0 };
  const seqs = await journal.requests.changedSince(id, range);
  return (await transcript.pick(id, seqs)).some(({ author }) => author?.kind === 'person');
}
