import type { MemoryId } from '../../domain/message.ts';
import type { QuotedEntries } from '../../ports/sections.ts';
import type { Claim, ContextSnapshot, Conversation, TurnCommit } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { newestMessage } from './snapshot.ts';

/** What a turn was given besides its own conversation. Its text may repeat it. */
export interface Given {
  /** Every memory that the model saw, even in part. */
  readonly memoryIds: readonly MemoryId[];
  /** Messages of other conversations. */
  readonly quotes: readonly QuotedEntries[];
}

export const NOTHING_GIVEN: Given = { memoryIds: [], quotes: [] };

/** What a turn has read. */
export interface Standing {
  readonly claim: Claim;
  /** When the turn began. */
  readonly snapshot: ContextSnapshot;
  readonly given: Given;
}

/**
 * The conversation of a turn that may continue; null once it has lost its claim or something that it was given, or a
 * person has edited what it read.
 */
export async function standingOf(
  { store, provenance }: Pick<Services, 'store' | 'provenance'>,
  { claim: { conversationId, epoch }, snapshot, given }: Standing,
): Promise<Conversation | null> {
  const now = await store.conversations.get(conversationId);
  if (now?.replyEpoch !== epoch) return null;
  if (now.revision > snapshot.conversation.revision && (await isEdited(store, snapshot))) return null;
  const { memoryIds, quotes } = given;
  const isReadable = memoryIds.length === 0 || (await provenance.areReadable(conversationId, memoryIds));
  if (!isReadable) return null;
  for (const quoted of quotes) if (await isOutdated(store, quoted)) return null;
  return now;
}

/** Whether one of the messages is deleted, or edited by a person. */
async function isOutdated(
  { transcript, journal }: Services['store'],
  { conversationId, revision, seqs }: QuotedEntries,
): Promise<boolean> {
  const found = await transcript.pick(conversationId, seqs);
  if (found.length < seqs.length || found.some(({ redactedAt }) => redactedAt !== null)) return true;
  const range = { fromSeq: Math.min(...seqs), toSeq: Math.max(...seqs), revision };
  const changed = await journal.requests.changedSince(conversationId, range);
  return found.some(({ seq, author }) => author?.kind === 'person' && changed.includes(seq));
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
