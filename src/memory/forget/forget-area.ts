import { placeOf } from '../../domain/key.ts';
import type { Entry, SummaryId } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { Summary } from '../../ports/summary-store.ts';
import type { Services } from '../../services.ts';
import { pagesOf } from '../../util/async/conversation-pages.ts';
import { waitForOwnTurn } from '../../util/async/event-loop.ts';
import { memoize } from '../../util/async/memoize.ts';
import type { ReadAdditions } from './additions.ts';
import type { Statement } from './derived.ts';

type Reading = Pick<Services, 'store' | 'search'>;

/** One conversation with everything in it that may contain what is being forgotten. */
export interface Area {
  readonly conversation: Conversation;
  /** By seq, without deleted ones. */
  readonly entries: ReadonlyMap<number, Entry>;
  readonly summaries: readonly Summary[];
}

/** A conversation that is not longer is read as a whole: a place may have hundreds, each of which would be searched. */
const MAX_ECHOES = 400;
const MAX_SUMMARIES = 50;
/**
 * Number of entries after a source, or after a memory was given to a reply, that are always read: the bot may repeat it
 * in another spelling, which no search finds. A single statement is followed further, many share this number.
 */
const FOLLOWING = 40;
const FOLLOWED_IN_ALL = 2000;
const BATCH = 500;
/** A few milliseconds of searches. */
const SEARCHED_AT_ONCE = 10;

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

/** Reads each text once, however often a request asks for it. */
export interface AreaReader {
  /**
   * What may contain the statements: their sources, the entries after them, and entries that share words with them.
   */
  load(conversation: Conversation, statements: readonly Statement[]): Promise<Area>;
  /** The statements with what edits added to them. */
  dated(statements: readonly Statement[]): Promise<readonly Statement[]>;
}

/** The entries that a request has read, by the number of their conversation. They keep their text when it is deleted. */
export type ReadEntries = (conversationId: number) => Map<number, Entry>;

export function createReadEntries(): ReadEntries {
  return memoize((_: number) => new Map<number, Entry>());
}

/** What a later look still has to know, although it is deleted by then. */
export interface KnownTexts {
  readonly additions: ReadAdditions;
  readonly entries?: ReadEntries;
}

/** For one look, while nothing else changes. */
export function createAreaReader(
  { store, search }: Reading,
  { additions, entries: entriesOf = createReadEntries() }: KnownTexts,
): AreaReader {
  const found = memoize((id: number) =>
    memoize(async (text: string): Promise<readonly number[]> => {
      return (await search.entries({ conversationId: id, text, limit: MAX_ECHOES })).map(({ seq }) => seq);
    }),
  );
  const summarised = memoize((id: number) =>
    memoize(async (text: string): Promise<readonly SummaryId[]> => {
      return (await search.summaries({ conversationId: id, text, limit: MAX_SUMMARIES })).map((hit) => hit.id);
    }),
  );
  const live = memoize(async (id: number) => (await store.summaries.live(id)).map((summary) => summary.id));
  const summary = memoize((id: SummaryId) => store.summaries.find(id));
  return {
    async load(conversation, statements) {
      const near = statements.filter((statement) => isNear(statement, conversation));
      const count = Math.max(FOLLOWING, Math.floor(FOLLOWED_IN_ALL / near.length));
      const seqs = new Set<number>(near.flatMap((statement) => followed(statement, conversation, count)));
      // Search does not find other spellings of a word.
      const summaryIds = new Set<SummaryId>(near.length > 0 ? await live(conversation.id) : []);
      const texts = near.map(({ traits }) => traits.words.join(' '));
      const isWhole = near.length > 0 && conversation.nextSeq <= MAX_ECHOES;
      if (isWhole) for (let seq = 1; seq < conversation.nextSeq; seq += 1) seqs.add(seq);
      else for await (const hits of searchAll(found(conversation.id), texts)) for (const seq of hits) seqs.add(seq);
      if (conversation.compactedUpto > 0) {
        for await (const hits of searchAll(summarised(conversation.id), texts))
          for (const id of hits) summaryIds.add(id);
      }
      const entries = await pickAll(store, conversation, { seqs, known: entriesOf(conversation.id) });
      const read = await Promise.all([...summaryIds].map(summary));
      const summaries = read.filter((one) => one !== null).filter(({ text }) => text !== '');
      return { conversation, entries, summaries };
    },
    async dated(statements) {
      const additionsTo = await additions(statements);
      return statements.map((statement) => ({ ...statement, additions: additionsTo(statement) }));
    },
  };
}

async function* searchAll<Hits>(search: (text: string) => Promise<Hits>, texts: readonly string[]) {
  for (const [at, text] of texts.entries()) {
    if (at % SEARCHED_AT_ONCE === SEARCHED_AT_ONCE - 1) await waitForOwnTurn();
    yield await search(text);
  }
}

function isNear({ memory, sources, readings }: Statement, { id, key }: Conversation): boolean {
  if (memory !== null && memory.place === placeOf(key)) return true;
  return [...sources, ...readings].some((place) => place.conversationId === id);
}

function followed({ sources, readings }: Statement, { id, nextSeq }: Conversation, count: number): readonly number[] {
  const starts = [
    ...sources.filter((source) => source.conversationId === id).map(({ seq }) => seq),
    ...readings.filter((reading) => reading.conversationId === id).map(({ fromSeq }) => fromSeq),
  ];
  return starts.flatMap((start) =>
    Array.from({ length: count + 1 }, (_, after) => start + after).filter((seq) => seq < nextSeq),
  );
}

/** Without deleted entries, in the order of the seqs. */
async function pickAll(
  store: Reading['store'],
  { id }: Conversation,
  { seqs, known }: { readonly seqs: ReadonlySet<number>; readonly known: Map<number, Entry> },
): Promise<ReadonlyMap<number, Entry>> {
  const missing = [...seqs].filter((seq) => !known.has(seq));
  for (let from = 0; from < missing.length; from += BATCH) {
    if (from > 0) await waitForOwnTurn();
    for (const entry of await store.transcript.pick(id, missing.slice(from, from + BATCH))) known.set(entry.seq, entry);
  }
  const found = new Map<number, Entry>();
  for (const seq of seqs) {
    const entry = known.get(seq);
    if (entry !== undefined && entry.redactedAt === null) found.set(seq, entry);
  }
  return found;
}
