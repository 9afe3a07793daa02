import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import type { EntryQuery } from '../../../src/adapter-kit.ts';
import { type Match, onShelf, type Parameter, prepare, type Tables, type Transaction } from '../sql/index.ts';
import { entryShelf, SHELF_ENTRIES, type ShelfSize } from './search-index.ts';

/** A search on one shelf, in the form that Postgres reads. */
export type Term = (shelf: number) => string;

export interface WantedRows {
  /** Marks the matches. */
  readonly word: number;
  readonly term: Term;
  /** The newest rows are found. */
  readonly rows: number;
  /** The newest shelves to search are at least this many small ones. The others are large. */
  readonly smallShelves: number;
  /** Whether occurrences within a row are counted: if for one of a call, for all. Otherwise each is 1, which is faster. */
  readonly counts: boolean;
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
  /** The last seq within the bounds. */
  readonly lastSeq: number;
  /** The newest rows of each term. */
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
    const common = { conversationId, authorId: authorId ?? null, sinceAt: sinceAt ?? null, fromSeq, toSeq };
    const isFiltered = authorId !== undefined || sinceAt !== undefined;
    const matching = isFiltered ? statements.filtered : statements.matching;
    return {
      entries: toSeq - fromSeq + 1,
      lastSeq: toSeq,
      async matching(wanted) {
        if (wanted.length === 0) return [];
        const shelves = wanted.map((each) => shelvesOf(conversationId, { fromSeq, toSeq, ...each }));
        const terms = wanted.flatMap(({ term }, index) => shelves[index]?.map(term) ?? []);
        let last = 0;
        const lasts = shelves.map(({ length }) => (last += length));
        const limits = wanted.map(({ rows }) => rows);
        const statement = wanted.some(({ counts }) => counts) ? matching.counted : matching.once;
        return rowsOf(wanted, await transaction.rows(statement({ ...common, terms, lasts, limits })));
      },
      async having(wanted) {
        const looked = wanted.flatMap(({ word, text, seqs }) =>
          seqs.map((seq) => ({ word, seq, term: onShelf(entryShelf(conversationId, seq, 'small'), text) })),
        );
        if (looked.length === 0) return [];
        const terms = looked.map(({ term }) => term);
        const seqs = looked.map(({ seq }) => seq);
        const rows = await transaction.rows(statements.having({ conversationId, terms, seqs }));
        return rows.map(({ place, seq: id, ...row }) => ({ id, word: looked[place - 1]?.word ?? 0, ...row }));
      },
    };
  };
}

/** The shelves of a range, newest first: small ones down to the edge of a large one, then large ones. */
function shelvesOf(
  conversationId: number,
  { fromSeq, toSeq, smallShelves }: { readonly fromSeq: number; readonly toSeq: number; readonly smallShelves: number },
): readonly number[] {
  const { small, large } = SHELF_ENTRIES;
  const edge = smallShelves === 0 ? toSeq + 1 : Math.floor((toSeq - smallShelves * small) / large) * large;
  const downTo = (size: ShelfSize, newest: number, oldest: number) => {
    const first = entryShelf(conversationId, newest, size);
    const count = oldest > newest ? 0 : first - entryShelf(conversationId, oldest, size) + 1;
    return Array.from({ length: count }, (_, index) => first - index);
  };
  return [...downTo('small', toSeq, Math.max(edge, fromSeq)), ...downTo('large', Math.min(edge - 1, toSeq), fromSeq)];
}

/** All rows of one word, as lists: a result row for each would take longer to send and read than to find. */
interface MatchLists {
  /** Counted from 1. */
  readonly place: number;
  readonly seqs: string;
  readonly lengths: string;
  readonly occurrences: string;
  /** 1 or 0. */
  readonly wanted: string;
}

function rowsOf(of: readonly { readonly word: number }[], lists: readonly MatchLists[]): readonly FoundRow[] {
  return lists.flatMap(({ place, seqs, lengths, occurrences, wanted }) => {
    const word = of[place - 1]?.word ?? 0;
    const [length, times, isWanted] = [numbersIn(lengths), numbersIn(occurrences), numbersIn(wanted)];
    return numbersIn(seqs).map((id, row) => ({
      id,
      word,
      length: length[row] ?? 0,
      occurrences: times[row] ?? 0,
      isWanted: isWanted[row] === 1,
    }));
  });
}

/** `{1,2}` as Postgres writes it. */
function numbersIn(list: string): readonly number[] {
  return list.slice(1, -1).split(',').map(Number);
}

interface KnownRow extends Omit<Match<number>, 'id' | 'word'> {
  /** Counted from 1. */
  readonly place: number;
  readonly seq: number;
}

interface Bounds {
  readonly conversationId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** The shelves of each word in turn, and the number of the last one of each word, counted from 1. */
  readonly terms: readonly string[];
  readonly lasts: readonly number[];
  /** For each word, the number of rows. */
  readonly limits: readonly number[];
  readonly authorId: string | null;
  readonly sinceAt: number | null;
}

interface Newest {
  readonly counts: boolean;
  readonly isWanted: Expression<boolean>;
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
  else ts_rank_cd('{1,1,1,1}', found.words, found.term) end`;

function prepareStatements(query: Kysely<Tables>) {
  const build = <Values, Row>(text: (p: Parameter<Values>) => RawBuilder<Row>) =>
    prepare((p: Parameter<Values>) => ({ compile: () => text(p).compile(query) }));
  // The shelves determine the conversation. With a condition on it, the server might scan all of it instead of using
  // the index. It reads shelf after shelf until a word has enough rows; `offset 0` makes it parse each term once.
  const newest = (p: Parameter<Bounds>, { counts, isWanted }: Newest) => sql<MatchLists>`
    select wanted.place, array_agg(found.seq)::text as seqs, array_agg(found.length)::text as lengths,
      array_agg(${counts ? OCCURRENCES : sql`1`})::text as occurrences, array_agg((${isWanted})::int)::text as wanted
    from (
      select place, most, last, lag(last, 1, 0::bigint) over (order by place) as before
      from unnest(${p('limits')}::bigint[], ${p('lasts')}::bigint[]) with ordinality as given(most, last, place)
    ) as wanted cross join lateral (
      select row.*, shelf.term
      from (
        select term::tsquery as term from unnest((${p('terms')}::text[])[wanted.before + 1:wanted.last]) as given(term) offset 0
      ) as shelf cross join lateral (
        select ${sql.raw(counts ? 'seq, length, words' : 'seq, length')} from entry_index
        where words @@ shelf.term and seq between ${p('fromSeq')} and ${p('toSeq')}
        order by seq desc limit wanted.most
      ) as row
      limit wanted.most
    ) as found
    group by wanted.place`;
  const bothWays = (isWanted: (p: Parameter<Bounds>) => Expression<boolean>) => ({
    counted: build<Bounds, MatchLists>((p) => newest(p, { counts: true, isWanted: isWanted(p) })),
    once: build<Bounds, MatchLists>((p) => newest(p, { counts: false, isWanted: isWanted(p) })),
  });
  return {
    entries: prepare((p: Parameter<{ conversationId: number }>) =>
      query.selectFrom('conversation').select('next_seq').where('id', '=', p('conversationId')),
    ),
    matching: bothWays(() => sql`true`),
    // Each entry by its key; with a join, the server might read all entries.
    having: build<Known, KnownRow>(
      (p) => sql<KnownRow>`
        select place, found.seq, found.length, 1 as occurrences
        from unnest(${p('terms')}::text[], ${p('seqs')}::bigint[]) with ordinality as given(term, seq, place)
          cross join lateral (
            select seq, length, words from entry_index
            where conversation_id = ${p('conversationId')} and seq = given.seq limit 1
          ) as found
        where found.words @@ given.term::tsquery`,
    ),
    filtered: bothWays(
      (p) => sql`exists (
        select 1 from entry where entry.conversation_id = ${p('conversationId')} and entry.seq = found.seq
          and (${p('authorId')}::text is null or entry.author_id = ${p('authorId')}::text)
          and (${p('sinceAt')}::bigint is null or entry.at >= ${p('sinceAt')}::bigint))`,
    ),
  };
}
