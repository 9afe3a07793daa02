import { wordsOnShelf } from '../sql/index.ts';

/** More of the same word add little to a rank. */
const COUNTED_TIMES = 8;
/** What one row of the index may hold: Postgres takes a megabyte. */
const MAX_WORDS = 30_000;

export interface IndexedWords {
  /** As Postgres reads it: each word with as many positions as it has occurrences. */
  readonly words: string;
  readonly length: number;
}

export function indexText(shelf: number, text: string): IndexedWords {
  const all = wordsOnShelf(shelf, text);
  const counts = new Map<string, number>();
  for (const word of all) {
    const count = counts.get(word) ?? 0;
    if (count < COUNTED_TIMES && (count > 0 || counts.size < MAX_WORDS)) counts.set(word, count + 1);
  }
  const words = [...counts].map(([word, count]) => `${word}:${POSITIONS[count]}`);
  return { words: words.join(' '), length: all.length };
}

const POSITIONS = Array.from({ length: COUNTED_TIMES + 1 }, (_, count) =>
  Array.from({ length: count }, (_, index) => index + 1).join(','),
);
