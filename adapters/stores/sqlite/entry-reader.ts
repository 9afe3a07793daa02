import type { EntryQuery, SeqRange } from '../../../src/adapter-kit.ts';
import { SATURATION } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { entryNumber } from './search-index.ts';

/** The index of one conversation, within the bounds of a query. */
export interface EntryReader {
  readonly range: SeqRange;
  /** How many entries the range has. */
  readonly entries: number;
  /** Seqs of the newest entries that match, descending. */
  newest(match: string, limit: number): readonly number[];
  /** Seqs of all entries that match, descending. */
  matching(match: string, range: SeqRange): readonly number[];
  /** Seq and BM25 of the entries that match. */
  ranked(match: string): readonly (readonly number[])[];
  /** Seq and length of these entries. */
  tokens(seqs: readonly number[]): readonly (readonly number[])[];
  /** BM25 of an entry of average length that contains the word once, used to convert the index's scores. */
  usualScore(match: string): number;
}

/** Numbers are cast, because they are bound as real numbers, for which the index does not seek. */
const SEQ = 'rowid - cast(? as integer)';
const RANGE = 'rowid between cast(? as integer) and cast(? as integer)';

export function createEntryReader(connection: Connection, query: EntryQuery): EntryReader {
  const base = entryNumber(query.conversationId, 0);
  const range = rangeOf(connection, query);
  const filter = filterOf(query, base);
  const where = `from entry_index where entry_index match ? and ${RANGE}${filter.sql}`;
  const values = (match: string, { fromSeq, toSeq }: SeqRange) => [
    base,
    match,
    base + fromSeq,
    base + toSeq,
    ...filter.values,
  ];
  return {
    range,
    entries: Math.max(range.toSeq - range.fromSeq + 1, 0),
    newest: (match, limit) =>
      connection.column(`select ${SEQ} ${where} order by rowid desc limit ?`, [...values(match, range), limit]),
    matching: (match, within) => connection.column(`select ${SEQ} ${where}`, values(match, within)).toReversed(),
    ranked: (match) => connection.table(`select ${SEQ}, -bm25(entry_index) ${where}`, values(match, range)),
    tokens(seqs) {
      const picked = 'conversation_id = ? and seq in (select value from json_each(?))';
      const values = [query.conversationId, JSON.stringify(seqs)];
      return connection.table(`select seq, tokens from entry where ${picked}`, values);
    },
    usualScore(match) {
      // With an infinite weight, the index returns only the word's own factor.
      const unbounded = 'select -bm25(entry_index, 1e15) from entry_index where entry_index match ? limit 1';
      return (connection.column(unbounded, [match])[0] ?? 1) / (1 + SATURATION);
    },
  };
}

function rangeOf(connection: Connection, { conversationId, fromSeq = 1, toSeq }: EntryQuery): SeqRange {
  const [newest = 0] = connection.column('select next_seq - 1 from conversation where id = ?', [conversationId]);
  return { fromSeq, toSeq: Math.min(toSeq ?? newest, newest) };
}

function filterOf({ conversationId, authorId, sinceAt }: EntryQuery, base: number) {
  if (authorId === undefined && sinceAt === undefined) return { sql: '', values: [] };
  const author = authorId === undefined ? '' : ' and author_id = ?';
  const since = sinceAt === undefined ? '' : ' and at >= ?';
  const given = [authorId, sinceAt].filter((value) => value !== undefined);
  return {
    sql: ` and exists (select 1 from entry where conversation_id = ? and seq = entry_index.rowid - ?${author}${since})`,
    values: [conversationId, base, ...given],
  };
}
