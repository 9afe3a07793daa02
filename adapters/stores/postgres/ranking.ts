/** The arithmetic of BM25. Pure. */

const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** One row that has one of the words. */
export interface Match<Id> {
  readonly id: Id;
  /** Which of the words, counted from 0. */
  readonly word: number;
  readonly occurrences: number;
  /** Words of the row. */
  readonly length: number;
}

export interface Hit<Id> {
  readonly id: Id;
  readonly score: number;
}

/** Rows by what they have of the words: rare ones tell more, and so does a short text. `weights` go by the word. */
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

function averageLength(matches: readonly Match<unknown>[]): number {
  const total = matches.reduce((sum, { length }) => sum + length, 0);
  return Math.max(total / Math.max(matches.length, 1), 1);
}

/** How much a word tells that stands in `rows` of `all`. Never negative: a word that all share tells a little. */
export function inverseFrequency(rows: number, all: number): number {
  return Math.log(1 + (Math.max(all - rows, 0) + 0.5) / (rows + 0.5));
}
