import { type Expression, type Kysely, sql } from 'kysely';
import type { EntryQuery } from '../../../src/adapter-kit.ts';
import { onShelf, type Parameter, prepare, type Tables, type Transaction } from '../sql/index.ts';
import type { Match } from './ranking.ts';
import { entryShelf, type ShelfSize } from './search-index.ts';

/** A search on one shelf, in the form that Postgres reads. */
export type Term = (shelf: number) => string;

export interface WantedWord {
  /** Markers around matches. */
  readonly word: number;
  readonly term: Term;
}

export interface WantedRows extends WantedWord {
  readonly size: ShelfSize;
  /** The oldest entry to search, the first entry on its shelf, and the newest entry. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Of each shelf. */
  readonly limit: number;
}

/** A word of the query, to look for in known entries. */
export interface WantedIn {
  readonly word: number;
  readonly text: string;
  readonly seqs: readonly number[];
}

export interface FoundRow extends Match<number> {
  /** Filters by the author and time of the query. */
  readonly isWanted: boolean;
}

/** The index of one conversation, within the bounds of a query. */
export interface EntryReader {
  /** Entries within the bounds. */
  readonly entries: number;
  /** The first and the last seq within the bounds. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The newest rows of each term, `limit` on each of its shelves. */
  matching(wanted: readonly WantedRows[]): Promise<readonly FoundRow[]>;
  /** Which of the entries contain the word, counted once each. */
  having(wanted: readonly WantedIn[]): Promise<readonly Match<number>[]>;
}

export type OpenReader = (transaction: Transaction, query: EntryQuery) => Promise<EntryReader | null>;

/** Null if nothing can be found. */
export function createEntryReaders(query: Kysely<Tables>): OpenReader {
  const statements = prepareStatements(query);
  return async (transaction, { conversationId, authorId, sinceAt, ...bounds }) => {
    const [row] = await transaction.rows(statements.entries({ conversationId }));
    const fromSeq = bounds.fromSeq ?? 1;
    const toSeq = Math.min(bounds.toSeq ?? Number.MAX_SAFE_INTEGER, (row?.next_seq ?? 1) - 1);
    if (toSeq < fromSeq) return null;
    const common = { conversationId, authorId: authorId ?? null, sinceAt: sinceAt ?? null, fromSeq };
    const isFiltered = authorId !== undefined || sinceAt !== undefined;
    const matching = isFiltered ? statements.filtered : statements.matching;
    return {
      entries: toSeq - fromSeq + 1,
      firstSeq: fromSeq,
      lastSeq: toSeq,
      async matching(wanted) {
        const looked = wanted.flatMap((each) => shelfByShelf(conversationId, each));
        const terms = looked.map(({ term }) => term);
        const limits = looked.map(({ limit }) => limit);
        const newest = looked.map((shelf) => Math.min(shelf.toSeq, toSeq));
        return mark(looked, await transaction.rows(matching({ ...common, terms, limits, newest })));
      },
      async having(wanted) {
        const looked = wanted.flatMap(({ word, text, seqs }) =>
          seqs.map((seq) => ({ word, seq, term: onShelf(entryShelf(conversationId, seq, 'small'), text) })),
        );
        if (looked.length === 0) return [];
        const terms = looked.map(({ term }) => term);
        const seqs = looked.map(({ seq }) => seq);
        return mark(looked, await transaction.rows(statements.having({ conversationId, terms, seqs })));
      },
    };
  };
}

function shelfByShelf(conversationId: number, { word, term, size, fromSeq, toSeq, limit }: WantedRows) {
  const newest = entryShelf(conversationId, toSeq, size);
  const count = newest - entryShelf(conversationId, fromSeq, size) + 1;
  return Array.from({ length: count }, (_, index) => ({ word, term: term(newest - index), limit, toSeq }));
}

interface MatchRow {
  /** Counted from 1. */
  readonly place: number;
  readonly seq: number;
  readonly occurrences: number;
  readonly length: number;
  readonly is_wanted: boolean;
}

function mark(wanted: readonly Pick<WantedWord, 'word'>[], rows: readonly MatchRow[]): readonly FoundRow[] {
  return rows.map(({ place, seq, occurrences, length, is_wanted: isWanted }) => ({
    id: seq,
    word: wanted[place - 1]?.word ?? 0,
    occurrences,
    length,
    isWanted,
  }));
}

interface Bounds {
  readonly conversationId: number;
  readonly terms: readonly string[];
  readonly fromSeq: number;
  /** For each term, the number of rows and the newest seq. */
  readonly limits: readonly number[];
  readonly newest: readonly number[];
  readonly authorId: string | null;
  readonly sinceAt: number | null;
}

interface Known {
  readonly conversationId: number;
  readonly terms: readonly string[];
  /** For each of the terms. */
  readonly seqs: readonly number[];
}

/**
 * For a query of one word, the rank with all weights at 1 is the word's frequency in the row. Most rows contain each of
 * their words once, and their lengths cost less to read: each is stored twice, on a small shelf and on a large one.
 */
const OCCURRENCES = sql`case when length(found.words) = found.length * 2 then 1
  else ts_rank_cd('{1,1,1,1}', found.words, wanted.term) end`;

/** Once, not for every compared row. */
function parsed(p: Parameter<Bounds>) {
  return sql`select place, term::tsquery as term, most, newest
    from unnest(${p('terms')}::text[], ${p('limits')}::bigint[], ${p('newest')}::bigint[])
      with ordinality as given(term, most, newest, place)`;
}

function prepareStatements(query: Kysely<Tables>) {
  const build = <Values>(text: (p: Parameter<Values>) => ReturnType<typeof sql<MatchRow>>) =>
    prepare((p: Parameter<Values>) => ({ compile: () => text(p).compile(query) }));
  // The shelves determine the conversation. With a condition on it, the server might scan all of it instead of using
  // the index.
  const newest = (p: Parameter<Bounds>, isWanted: Expression<boolean>) => sql<MatchRow>`
    with wanted as materialized (${parsed(p)})
    select wanted.place, found.seq, found.length, ${OCCURRENCES} as occurrences, ${isWanted} as is_wanted
    from wanted cross join lateral (
      select seq, length, words from entry_index
      where words @@ wanted.term and seq between ${p('fromSeq')} and wanted.newest
      order by seq desc limit wanted.most
    ) as found`;
  return {
    entries: prepare((p: Parameter<{ conversationId: number }>) =>
      query.selectFrom('conversation').select('next_seq').where('id', '=', p('conversationId')),
    ),
    matching: build<Bounds>((p) => newest(p, sql`true`)),
    // Each entry by its key; with a join, the server might read all entries.
    having: build<Known>(
      (p) => sql<MatchRow>`
        select place, found.seq, found.length, 1 as occurrences, true as is_wanted
        from unnest(${p('terms')}::text[], ${p('seqs')}::bigint[]) with ordinality as given(term, seq, place)
          cross join lateral (
            select seq, length, words from entry_index
            where conversation_id = ${p('conversationId')} and seq = given.seq limit 1
          ) as found
        where found.words @@ given.term::tsquery`,
    ),
    filtered: build<Bounds>((p) =>
      newest(
        p,
        sql`exists (
          select 1 from entry where entry.conversation_id = ${p('conversationId')} and entry.seq = found.seq
            and (${p('authorId')}::text is null or entry.author_id = ${p('authorId')}::text)
            and (${p('sinceAt')}::bigint is null or entry.at >= ${p('sinceAt')}::bigint))`,
      ),
    ),
  };
}
