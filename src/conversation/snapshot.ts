import { extendTail } from '../context/cached-head.ts';
import type { Entry } from '../domain/message.ts';
import type { ContextSnapshot, Conversation, NewMessage } from '../ports/store.ts';

/**
 * Carries a cached snapshot over an append. Null when something else changed the view: then it must be read
 * again, because this is only a cache.
 */
export function extendSnapshot(
  cached: ContextSnapshot | null,
  conversation: Conversation,
  added: readonly Entry[],
): ContextSnapshot | null {
  if (cached === null || cached.conversation.revision !== conversation.revision) return null;
  const first = added[0];
  if (first === undefined) {
    // Without additions of ours the count must be the same: what is new was stored by another process.
    return cached.conversation.nextSeq === conversation.nextSeq ? { ...cached, conversation } : null;
  }
  const contiguous = first.seq === cached.conversation.nextSeq && conversation.nextSeq === first.seq + added.length;
  return contiguous ? { ...cached, conversation, tail: extendTail(cached.tail, added) } : null;
}

export function toEntry(message: NewMessage, seq: number): Entry {
  return { ...message, seq, turn: message.role === 'assistant' ? seq - 1 : null, editedAt: null, redactedAt: null };
}

/** The newest message of a person (or an allowed bot): what a turn starting now would read. Not one that was deleted. */
export function newestMessage(snapshot: ContextSnapshot): Entry | null {
  return snapshot.tail.findLast(({ role, redactedAt }) => role === 'user' && redactedAt === null) ?? null;
}

/** What a reply points to: the newest message that asked for one, though others may have spoken after it. */
export function askedIn({ conversation, tail }: ContextSnapshot, newest: Entry): Entry {
  return tail.findLast(({ role, seq }) => role === 'user' && seq === conversation.replyDueSeq) ?? newest;
}

export function owesReply(conversation: Pick<Conversation, 'replyDueSeq' | 'answeredUpto'>): boolean {
  return conversation.replyDueSeq > conversation.answeredUpto;
}
