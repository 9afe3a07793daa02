import { wordsOnShelf } from '../sql/index.ts';

/** More occurrences of the same word add little to a rank. */
const COUNTED_TIMES = 8;
/** The limit of one index row: Postgres accepts a megabyte. */
const MAX_WORDS = 30_000;

export interface IndexedWords {
  /** In the form that Postgres reads: each word with as many positions as occurrences. */
  readonly words: string;
  readonly length: number;
}

/** The words of a text on each of its shelves. */
export function indexText(shelves: readonly number[], text: string): IndexedWords {
  const lists = shelves.map((shelf) => wordsOnShelf(shelf, text));
  const words = lists.map((list) => countedWords(list, MAX_WORDS / shelves.length));
  return { words: words.join(' '), length: lists[0]?.length ?? 0 };
}

function countedWords(words: readonly string[], most: number): string {
  const counts = new Map<string, number>();
  for (const word of words) {
    const count = counts.get(word) ?? 0;
    if (count < COUNTED_TIMES && (count > 0 || counts.size < most)) counts.set(word, count + 1);
  }
  return [...counts].map(([word, count]) => `${word}:${POSITIONS[count]}`).join(' ');
}

const POSITIONS = Array.from({ length: COUNTED_TIMES + 1 }, (_, count) =>
  Array.from({ length: count }, (_, index) => index + 1).join(','),
);
