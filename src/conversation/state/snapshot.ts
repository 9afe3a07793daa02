import { extendTail } from '../../context/view/cached-head.ts';
import { isWaiting } from '../../context/view/order.ts';
import type { Entry } from '../../domain/message.ts';
import type { ContextSnapshot, Conversation, Extended, NewMessage } from '../../ports/store.ts';

/**
 * Extends a cached snapshot by an append. Returns null if something else changed the view; it must then be read again.
 */
export function extendSnapshot(
  cached: ContextSnapshot | null,
  { conversation, previousActivityAt }: Extended,
  added: readonly Entry[],
): ContextSnapshot | null {
  if (cached === null || cached.conversation.revision !== conversation.revision) return null;
  if (cached.conversation.lastActivityAt !== previousActivityAt) return null;
  const first = added[0];
  if (first === undefined) {
    // If this process appended nothing, the count must be unchanged: anything new was stored by another process.
    return cached.conversation.nextSeq === conversation.nextSeq ? { ...cached, conversation } : null;
  }
  const contiguous = first.seq === cached.conversation.nextSeq && conversation.nextSeq === first.seq + added.length;
  return contiguous ? { ...cached, conversation, tail: extendTail(cached.tail, added) } : null;
}

export function toEntry(message: NewMessage, { seq, wantsReply }: Pick<Entry, 'seq' | 'wantsReply'>): Entry {
  const turn = message.role === 'user' ? null : seq - 1;
  return { ...message, seq, turn, editedAt: null, redactedAt: null, wantsReply };
}

/** The newest message of a person or an allowed bot that was not deleted: what a turn starting now would read. */
export function newestMessage(snapshot: ContextSnapshot): Entry | null {
  return snapshot.tail.findLast(({ role, redactedAt }) => role === 'user' && redactedAt === null) ?? null;
}

/** The message that a reply points to: the newest one read that asked for a reply, even if others have spoken since. */
export function askedIn({ conversation, tail }: ContextSnapshot, newest: Entry): Entry {
  return tail.findLast((entry) => entry.seq <= newest.seq && isWaiting(entry, conversation)) ?? newest;
}

export function owesReply(conversation: Pick<Conversation, 'replyDueSeq' | 'answeredUpto'>): boolean {
  return conversation.replyDueSeq > conversation.answeredUpto;
}

/**
 * The seqs after `before` that the newest turn answered or added. A message that arrived while the turn ran belongs to
 * the next one.
 */
export function seqsOfTurn({ tail, conversation }: ContextSnapshot, before: number): readonly number[] {
  const { answeredUpto } = conversation;
  const isOf = ({ seq, turn }: Entry) => turn === answeredUpto || (turn === null && seq <= answeredUpto);
  // They are at the end of a tail that may be long.
  const first = tail.findLastIndex(({ seq }) => seq <= before) + 1;
  return tail.slice(first).flatMap((entry) => (isOf(entry) ? [entry.seq] : []));
}
