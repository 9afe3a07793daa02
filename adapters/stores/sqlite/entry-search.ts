import type { EntryHit, EntryQuery } from '../../../src/adapter-kit.ts';
import { FEW_ROWS, inverseFrequency, queryTerms } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { createEntryReader, type EntryReader } from './entry-reader.ts';
import { add, best, lengthFactor, ranked, type Scores } from './ranking.ts';
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
  if (isExact) return best(weighExactly(reader, words), query.limit);
  const rough = best(weighRoughly(reader, words), Math.max(query.limit, LENGTHS));
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
function weighExactly(reader: EntryReader, words: readonly Word[]): Scores {
  const scores: Scores = new Map();
  for (const { match, weight } of words) {
    const usual = reader.usualScore(match);
    for (const [seq = 0, score = 0] of reader.ranked(match)) add(scores, seq, (weight * score) / usual);
  }
  return scores;
}

/** Which of the words an entry contains. */
function weighRoughly(reader: EntryReader, words: readonly Word[]): Scores {
  const scores: Scores = new Map();
  for (const { newest, weight } of words) for (const seq of newest) add(scores, seq, weight);
  const rare = words.filter((word) => word.isComplete);
  const common = words.filter((word) => !word.isComplete);
  if (rare.length > 0) addBesideRare(reader, scores, { rare, common });
  else addPairs(reader, scores, common);
  return scores;
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

/** Older entries with a common word and a rare one. */
function addBesideRare(
  reader: EntryReader,
  scores: Scores,
  { rare, common }: { rare: readonly Word[]; common: readonly Word[] },
): void {
  const anchor = rare.map((word) => word.match).join(' OR ');
  for (const { match, newest, weight } of common) {
    const older = { ...reader.range, toSeq: (newest.at(-1) ?? 1) - 1 };
    for (const seq of reader.matching(`(${anchor}) AND ${match}`, older)) add(scores, seq, weight);
  }
}

/** No word is rare: older entries with the least common word and another one, as far back as its rows allow. */
function addPairs(reader: EntryReader, scores: Scores, [least, ...others]: readonly Word[]): void {
  if (least === undefined) return;
  const depth = Math.ceil((reader.entries * PAIRED_ROWS) / least.rows);
  const fromSeq = Math.max(reader.range.fromSeq, reader.range.toSeq - depth + 1);
  const known = new Set(least.newest);
  for (const { match, newest, weight } of others) {
    const older = { fromSeq, toSeq: (newest.at(-1) ?? 1) - 1 };
    for (const seq of reader.matching(`${least.match} AND ${match}`, older)) {
      add(scores, seq, weight);
      if (known.has(seq)) continue;
      known.add(seq);
      add(scores, seq, least.weight);
    }
  }
}
