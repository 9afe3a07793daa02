import type { EntryHit, EntryQuery } from '../../../src/adapter-kit.ts';
import { FEW_ROWS, inverseFrequency, queryTerms } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { createEntryReader, type EntryReader } from './entry-reader.ts';
import { bestOf, lengthFactor, type Posting, ranked } from './ranking.ts';
import { indexTerm } from './words.ts';

/** Up to this many matching entries are all scored exactly. */
const EXACT_ROWS = 1_500;
/** For a word with more entries, only the newest are read. */
const NEWEST_ROWS = 500;
/** How far back the least common word is followed in a query without a rare word. */
const PAIRED_ROWS = 2_500;

/** For this many of the best, the length counts too; it costs a lookup each. */
const LENGTHS = 64;

interface Word {
  readonly match: string;
  /** Seqs in descending order: all entries with the word, or the newest. */
  readonly newest: readonly number[];
  readonly isComplete: boolean;
  /** In the whole range; estimated for a word of which only the newest entries are known. */
  readonly rows: number;
  readonly weight: number;
}

/**
 * BM25 within one conversation, in bounded time however long it is. Exact for conversations of usual length. In a very
 * long one, rare words decide; common words count next to them, and among the newest entries.
 */
export function rankEntries(connection: Connection, query: EntryQuery): readonly EntryHit[] {
  if (query.limit <= 0) return [];
  const reader = createEntryReader(connection, query);
  const words = lookUp(reader, query);
  const rows = words.reduce((sum, word) => sum + word.rows, 0);
  const isExact = rows <= EXACT_ROWS && words.every((word) => word.isComplete);
  if (isExact) return ranked(weighExactly(reader, words)).slice(0, query.limit);
  const rough = bestOf(postingsOf(reader, words), Math.max(query.limit, LENGTHS));
  return ranked(weighLengths(reader, rough)).slice(0, query.limit);
}

/** What is known of each word, rarest first. A word that hardly occurs is looked up by its other forms too. */
function lookUp(reader: EntryReader, query: EntryQuery): readonly Word[] {
  const words = new Map<string, Word>();
  const rowsOf = (term: string) => {
    const word = words.get(term) ?? lookUpWord(reader, indexTerm(query.conversationId, term));
    words.set(term, word);
    return word.rows;
  };
  const terms = queryTerms(query);
  const rare = terms.filter(({ stem }) => rowsOf(stem) < FEW_ROWS);
  for (const form of rare.flatMap(({ beginnings }) => beginnings)) rowsOf(form);
  return [...words.values()].filter((word) => word.rows > 0).sort((a, b) => a.rows - b.rows);
}

function lookUpWord(reader: EntryReader, match: string): Word {
  const newest = reader.newest(match, NEWEST_ROWS);
  const isComplete = newest.length < NEWEST_ROWS;
  const depth = reader.range.toSeq - (newest.at(-1) ?? 0) + 1;
  const rows = isComplete ? newest.length : Math.round((newest.length * reader.entries) / depth);
  return { match, newest, isComplete, rows, weight: inverseFrequency(rows, reader.entries) };
}

/** Frequency and text length: the index's own score without the weight of the word. */
function weighExactly(reader: EntryReader, words: readonly Word[]): EntryHit[] {
  const scores = new Map<number, number>();
  for (const { match, weight } of words) {
    const usual = reader.usualScore(match);
    for (const [seq = 0, score = 0] of reader.ranked(match))
      scores.set(seq, (scores.get(seq) ?? 0) + (weight * score) / usual);
  }
  return [...scores].map(([seq, score]) => ({ seq, score }));
}

/** The entries that contain each word, as far as they are looked up. */
function postingsOf(reader: EntryReader, words: readonly Word[]): readonly Posting[] {
  const rare = words.filter((word) => word.isComplete);
  const common = words.filter((word) => !word.isComplete);
  return [
    ...rare.map((word) => postingOf(word)),
    ...(rare.length > 0 ? besideRare(reader, rare, common) : pairs(reader, common)),
  ];
}

function postingOf({ newest, weight }: Word, older: readonly number[] = []): Posting {
  return { seqs: newest.concat(older), weight };
}

function weighLengths(reader: EntryReader, hits: EntryHit[]): EntryHit[] {
  const first = hits.slice(0, LENGTHS);
  const lengths = new Map<number, number>();
  let sum = 0;
  for (const [seq = 0, tokens = 0] of reader.tokens(first.map((hit) => hit.seq))) {
    lengths.set(seq, tokens);
    sum += tokens;
  }
  const average = sum / Math.max(lengths.size, 1);
  for (const [at, { seq, score }] of first.entries())
    hits[at] = { seq, score: score * lengthFactor(lengths.get(seq) ?? average, average) };
  return hits;
}

/** The common words; their older entries where there is a rare word too. */
function besideRare(reader: EntryReader, rare: readonly Word[], common: readonly Word[]): readonly Posting[] {
  const anchor = rare.map((word) => word.match).join(' OR ');
  return common.map((word) => {
    const older = { ...reader.range, toSeq: (word.newest.at(-1) ?? 1) - 1 };
    return postingOf(word, reader.matching(`(${anchor}) AND ${word.match}`, older));
  });
}

/** No word is rare: older entries with the least common word and another one, as far back as its rows allow. */
function pairs(reader: EntryReader, [least, ...others]: readonly Word[]): readonly Posting[] {
  if (least === undefined) return [];
  const depth = Math.ceil((reader.entries * PAIRED_ROWS) / least.rows);
  const fromSeq = Math.max(reader.range.fromSeq, reader.range.toSeq - depth + 1);
  const found = new Set<number>();
  const paired = others.map((word) => {
    const older = { fromSeq, toSeq: (word.newest.at(-1) ?? 1) - 1 };
    const seqs = reader.matching(`${least.match} AND ${word.match}`, older);
    for (const seq of seqs) found.add(seq);
    return postingOf(word, seqs);
  });
  const older = found.difference(new Set(least.newest));
  return [
    postingOf(
      least,
      [...older].sort((a, b) => b - a),
    ),
    ...paired,
  ];
}
