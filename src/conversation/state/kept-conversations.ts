import { placeOf, workspaceOf } from '../../domain/key.ts';
import { type ConversationKey, textOf } from '../../domain/message.ts';
import type { Cursor, KeptConversations, KeptMessage, QuotedMessage } from '../../ports/channel.ts';
import type { Conversation, ConversationScope } from '../../ports/store.ts';
import { wordsOf } from '../../search/words/words.ts';
import type { Services } from '../../services.ts';
import { pagesOf } from '../../util/async/conversation-pages.ts';
import { isErased } from '../inbound/erased.ts';
import { owesReply } from './snapshot.ts';

/** Sorts after every character that a key can contain. */
const LAST_CHARACTER = '\u{10ffff}';
/** Number of entries of a conversation that are checked for edits and deletions. */
const MAX_KEPT = 100;

/** What channels can ask about stored conversations. */
export function createKeptConversations(services: Pick<Services, 'store' | 'state' | 'clock'>): KeptConversations {
  const { conversations } = services.store;
  return {
    async *heard(within, windowMs) {
      let since: number | null = null;
      for await (const cursor of cursorsOf(services, { within })) {
        since ??= cursor.at - windowMs;
        if (cursor.at < since) return;
        yield cursor;
      }
    },
    heardIn: (place) => cursorsOf(services, { place }),
    async *within(within) {
      for await (const { key, audience } of pagesOf(conversations, { order: 'key', scope: { within } })) {
        yield { conversation: key, audience };
      }
    },
    textOf: (quoted) => quotableText(services, quoted),
    async *workspaces(platform) {
      const query = { order: 'key', scope: { within: platform }, limit: 1 } as const;
      let [found] = await conversations.list({ ...query, after: null });
      while (found !== undefined) {
        const workspace = workspaceOf(found.key);
        yield workspace;
        // One query per workspace, however much is stored for it.
        const after = { ...found, key: `${workspace}:${LAST_CHARACTER}` as ConversationKey };
        [found] = await conversations.list({ ...query, after });
      }
    },
  };
}

async function quotableText(
  services: Pick<Services, 'store' | 'state' | 'clock'>,
  { conversations, externalId, at, quotedIn, shown }: QuotedMessage,
): Promise<string | null> {
  const { store } = services;
  let wasErased = false;
  for (const key of conversations) {
    const conversation = await store.conversations.find(key);
    const entry = conversation && (await store.transcript.byExternalId(conversation.id, externalId));
    if (!entry) {
      // Another of these conversations may still have it: an erased thread begins with a message of its channel.
      wasErased ||= await isErased(services, { conversation: key, externalId, at });
      continue;
    }
    if (entry.redactedAt === null && entry.role !== 'user') return null;
    const text = textOf(entry.parts);
    // A picture, of which there are no words to bring back.
    if (entry.redactedAt === null && text === '' && wordsOf(shown).length === 0) return null;
    return isOpenTo(conversation, quotedIn) || saysAllOf(shown, text) ? text : null;
  }
  return wasErased ? '' : null;
}

/** Platforms let people name any message as the one that they share, so a quotation proves no right to read it. */
function isOpenTo(
  { key, tightestAudience }: Conversation,
  { conversation, audience: readers }: QuotedMessage['quotedIn'],
): boolean {
  if (placeOf(key) === placeOf(conversation)) return true;
  const isPublic = tightestAudience === 'public' && readers === 'public';
  return isPublic && workspaceOf(key) === workspaceOf(conversation);
}

function saysAllOf(shown: string, text: string): boolean {
  return new Set(wordsOf(text)).isSubsetOf(new Set(wordsOf(shown)));
}

async function* cursorsOf(
  services: Pick<Services, 'store'>,
  scope: ConversationScope,
): AsyncGenerator<Cursor, void, undefined> {
  const query = { order: 'heard', scope } as const;
  const unposted = new Set((await services.store.outbox.pending(null)).map(({ conversationId }) => conversationId));
  for await (const conversation of pagesOf(services.store.conversations, query)) {
    const { id, key, heard } = conversation;
    if (heard === null) continue;
    const owes = owesReply(conversation) || unposted.has(id);
    yield { conversation: key, ...heard, owesReply: owes, kept: () => keptIn(services, id) };
  }
}

async function keptIn({ store }: Pick<Services, 'store'>, conversationId: number): Promise<readonly KeptMessage[]> {
  const conversation = await store.conversations.get(conversationId);
  if (conversation === null) return [];
  const toSeq = conversation.nextSeq - 1;
  const range = { fromSeq: Math.max(1, toSeq - MAX_KEPT + 1), toSeq, limit: MAX_KEPT };
  const entries = await store.transcript.read(conversationId, range);
  return entries.flatMap(({ role, externalId, at, editedAt, redactedAt }) =>
    role === 'user' && externalId !== null && redactedAt === null ? [{ externalId, at, editedAt }] : [],
  );
}
