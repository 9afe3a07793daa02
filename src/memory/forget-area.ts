import { placeOf } from '../domain/key.ts';
import type { Entry, SummaryId } from '../domain/message.ts';
import type { Conversation } from '../ports/store.ts';
import type { Summary } from '../ports/summary-store.ts';
import type { Services } from '../services.ts';
import { pagesOf } from '../util/conversation-pages.ts';
import type { Statement } from './derived.ts';

type Reading = Pick<Services, 'store' | 'search'>;

/** One conversation with everything in it that may contain what is being forgotten. */
export interface Area {
  readonly conversation: Conversation;
  /** By seq, without deleted ones. */
  readonly entries: ReadonlyMap<number, Entry>;
  readonly summaries: readonly Summary[];
}

const MAX_ECHOES = 400;
const MAX_SUMMARIES = 50;
/** Number of entries after a source that are always read, because the bot's tool calls may repeat it. */
const FOLLOWING = 40;
const BATCH = 500;

/**
 * The conversations that can contain the statements: those of their places, and those in which a reply was given them.
 */
export async function conversationsOf(
  { store }: Reading,
  { places, ids }: { readonly places: Iterable<string>; readonly ids: Iterable<number> },
): Promise<readonly Conversation[]> {
  const found = new Map<number, Conversation>();
  for (const place of new Set(places)) {
    if (place === '') continue;
    const here = pagesOf(store.conversations, { order: 'key', scope: { place }, withChildren: true });
    for await (const conversation of here) found.set(conversation.id, conversation);
  }
  for (const id of new Set(ids)) {
    const conversation = found.has(id) ? null : await store.conversations.get(id);
    if (conversation !== null) found.set(id, conversation);
  }
  return [...found.values()].sort((a, b) => a.id - b.id);
}

/**
 * Reads what may contain the statements: their sources, the entries after them, and entries that share words with them.
 */
export async function loadArea(
  services: Reading,
  conversation: Conversation,
  statements: readonly Statement[],
): Promise<Area> {
  const near = statements.filter((statement) => isNear(statement, conversation));
  const seqs = new Set<number>();
  const summaryIds = new Set<SummaryId>();
  for (const statement of near) {
    for (const seq of followed(statement, conversation)) seqs.add(seq);
    const text = statement.traits.words.join(' ');
    const query = { conversationId: conversation.id, text };
    for (const { seq } of await services.search.entries({ ...query, limit: MAX_ECHOES })) seqs.add(seq);
    for (const { id } of await services.search.summaries({ ...query, limit: MAX_SUMMARIES })) summaryIds.add(id);
  }
  // Search does not find other spellings of a word.
  if (near.length > 0) for (const { id } of await services.store.summaries.live(conversation.id)) summaryIds.add(id);
  const entries = await pickAll(services, conversation, seqs);
  return { conversation, entries, summaries: await summariesOf(services, summaryIds) };
}

function isNear({ memory, sources, readings }: Statement, { id, key }: Conversation): boolean {
  if (memory !== null && memory.place === placeOf(key)) return true;
  return [...sources, ...readings].some((place) => place.conversationId === id);
}

function followed({ sources }: Statement, { id, nextSeq }: Conversation): readonly number[] {
  const own = sources.filter((source) => source.conversationId === id);
  return own.flatMap(({ seq }) =>
    Array.from({ length: FOLLOWING + 1 }, (_, after) => seq + after).filter((following) => following < nextSeq),
  );
}

async function pickAll(
  { store }: Reading,
  { id }: Conversation,
  seqs: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Entry>> {
  const wanted = [...seqs];
  const found = new Map<number, Entry>();
  for (let from = 0; from < wanted.length; from += BATCH) {
    for (const entry of await store.transcript.pick(id, wanted.slice(from, from + BATCH))) {
      if (entry.redactedAt === null) found.set(entry.seq, entry);
    }
  }
  return found;
}

async function summariesOf({ store }: Reading, ids: ReadonlySet<SummaryId>): Promise<readonly Summary[]> {
  const found: Summary[] = [];
  for (const id of ids) {
    const summary = await store.summaries.find(id);
    if (summary !== null && summary.text !== '') found.push(summary);
  }
  return found;
}
