import { makeKey, parseKey } from '../../domain/key.ts';
import { type ConversationKey, type Entry, textOf } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Services } from '../../services.ts';
import { type QuoteNote, replyNoteIn, threadNoteIn } from '../../util/text/quote-notes.ts';
import { type Statement, statementOfMessage } from './derived.ts';
import type { AreaReader } from './forget-area.ts';
import type { PeopleDecision, SentenceDecision } from './forget-people.ts';

/** What a thread keeps of the message from which it starts, or a reply of the one that it answers. */
export interface KeptQuote {
  readonly conversation: Conversation;
  /** The message that contains it, with nothing else. */
  readonly entry: Entry;
  readonly sentence: SentenceDecision;
  readonly statement: Statement;
}

/** The note is part of the first message that the channel stored there. */
const LOOKED_THROUGH = 20;
/** The newest messages. People delete what was said lately. */
const REPLIES_AMONG = 500;

/** The beginnings of threads that start from these messages. */
export async function beginningsFrom(
  services: Pick<Services, 'store'>,
  key: ConversationKey,
  externalIds: readonly (string | null)[],
): Promise<readonly KeptQuote[]> {
  const found: KeptQuote[] = [];
  for (const externalId of new Set(externalIds)) {
    const thread = externalId === null ? null : threadFrom(key, externalId);
    const beginning = thread === null ? null : await beginningOf(services, thread);
    if (beginning !== null) found.push(beginning);
  }
  return found;
}

/** What threads keep of the deleted messages from which they start. */
export async function beginningsOf(
  services: Pick<Services, 'store'>,
  people: readonly PeopleDecision[],
): Promise<readonly KeptQuote[]> {
  const found: KeptQuote[] = [];
  for (const { area, seqs } of people) {
    const ids = [...seqs].map((seq) => area.entries.get(seq)?.externalId ?? null);
    found.push(...(await beginningsFrom(services, area.conversation.key, ids)));
  }
  return found;
}

/** What may repeat them in their thread, and the deletion of what it keeps. */
export async function withBeginnings(
  areas: AreaReader,
  { area, seqs, sentences }: PeopleDecision,
  begun: readonly KeptQuote[],
): Promise<PeopleDecision> {
  const statements = begun.map(({ statement }) => statement);
  const more = await areas.load(area.conversation, statements);
  return {
    area: {
      ...area,
      entries: new Map([...area.entries, ...more.entries]),
      summaries: [...area.summaries, ...more.summaries],
    },
    seqs,
    sentences: [...sentences, ...begun.map(({ sentence }) => sentence)],
  };
}

const THREAD_ID = /^[\w.-]{1,64}$/;

/** Discord and Slack give a thread the id of the message from which it starts. */
function threadFrom(key: ConversationKey, externalId: string): ConversationKey | null {
  const { platform, workspace, channel, thread } = parseKey(key);
  if (!THREAD_ID.test(externalId) || (thread !== null && thread !== externalId)) return null;
  return makeKey({ platform, workspace, channel, thread: externalId });
}

async function beginningOf({ store }: Pick<Services, 'store'>, key: ConversationKey): Promise<KeptQuote | null> {
  const conversation = await store.conversations.find(key);
  if (conversation === null) return null;
  const range = { fromSeq: 1, toSeq: LOOKED_THROUGH, limit: LOOKED_THROUGH };
  for (const entry of await store.transcript.read(conversation.id, range)) {
    const note = entry.role === 'user' ? threadNoteIn(textOf(entry.parts)) : null;
    if (note !== null) return quoteIn(conversation, entry, note);
  }
  return null;
}

/** Replies whose channel has put what they answer before them, because it is not stored itself. */
export async function quotesInReplies(
  { store }: Pick<Services, 'store'>,
  key: ConversationKey,
  externalIds: readonly string[],
): Promise<readonly KeptQuote[]> {
  const conversation = await store.conversations.find(key);
  if (conversation === null) return [];
  const toSeq = conversation.nextSeq - 1;
  const range = { fromSeq: Math.max(1, toSeq - REPLIES_AMONG + 1), toSeq, limit: REPLIES_AMONG };
  const ids = new Set(externalIds);
  return (await store.transcript.read(conversation.id, range)).flatMap((entry) => {
    const isReply = entry.role === 'user' && entry.replyTo !== null && ids.has(entry.replyTo);
    const note = isReply ? replyNoteIn(textOf(entry.parts)) : null;
    return note === null ? [] : [quoteIn(conversation, entry, note)];
  });
}

function quoteIn(conversation: Conversation, entry: Entry, { marked, words }: QuoteNote): KeptQuote {
  const { id: conversationId, audience } = conversation;
  const quoted: Entry = { ...entry, author: null, parts: [{ kind: 'text', text: words }] };
  return {
    conversation,
    entry: quoted,
    sentence: { entry, text: marked, kind: 'strike', about: { id: '', name: '' } },
    statement: statementOfMessage(quoted, { audience, conversationId }),
  };
}
