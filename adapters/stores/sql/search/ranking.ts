import type { MemoryQuery } from '../../../../src/adapter-kit.ts';

/** BM25 arithmetic and the limits of every search. Pure. */

/** Memories or summaries with one word that are ranked: the newest ones. */
export const RANKED_ROWS = 2_000;
/** More rows are not counted, because a word's weight hardly changes any more. */
export const COUNTED_ROWS = 2_000;
/** Memories in other states are found only if the query names them. */
export const DEFAULT_STATES: NonNullable<MemoryQuery['states']> = ['active'];

/** How much repetitions of a word count, as in the index of SQLite. */
export const SATURATION = 1.2;
export const LENGTH_SHARE = 0.75;

/** One row with one of the words. */
export interface Match<Id> {
  readonly id: Id;
  /** Index of the word. */
  readonly word: number;
  readonly occurrences: number;
  /** Words of the row. */
  readonly length: number;
}

export interface Hit<Id> {
  readonly id: Id;
  readonly score: number;
}

/** Ranks rows by the words they contain: rare words count more, and so do short texts. `weights` are by word. */
export function score<Id>(matches: readonly Match<Id>[], weights: readonly number[]): Hit<Id>[] {
  const average = averageLength(matches);
  const scores = new Map<Id, number>();
  for (const { id, word, occurrences, length } of matches) {
    const relative = 1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average;
    const told = (occurrences * (1 + SATURATION)) / (occurrences + SATURATION * relative);
    scores.set(id, (scores.get(id) ?? 0) + (weights[word] ?? 0) * told);
  }
  return [...scores].map(([id, value]) => ({ id, score: value }));
}

/** The best hits. Of equal ones, those with later ids, which are the newest. */
export function bestOf<Id extends string>(hits: readonly Hit<Id>[], limit: number): readonly Hit<Id>[] {
  return hits.toSorted((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1)).slice(0, limit);
}

function averageLength(matches: readonly Match<unknown>[]): number {
  const total = matches.reduce((sum, { length }) => sum + length, 0);
  return Math.max(total / Math.max(matches.length, 1), 1);
}

/**
 * The weight of a word that occurs in `rows` of `all`. Never negative: a word that all rows contain counts a little.
 */
export function inverseFrequency(rows: number, all: number): number {
  return Math.log(1 + (Math.max(all - rows, 0) + 0.5) / (rows + 0.5));
}
