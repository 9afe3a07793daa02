import type { MemoryHit, MemoryId } from '../../../src/adapter-kit.ts';
import { stemsOf } from '../sql/index.ts';
import { inverseFrequency, lengthFactor, occurrenceFactor } from './ranking.ts';

/** Up to this many texts are read directly; querying the index for every word costs more. */
export const FEW_MEMORIES = 150;

export interface MemoryText {
  readonly id: MemoryId;
  readonly text: string;
}

/** BM25 of the texts, as an index of only these texts would compute it. Pure. */
export function weighTexts(rows: readonly MemoryText[], words: readonly string[]): readonly MemoryHit[] {
  const stems = rows.map(({ text }) => stemsOf(text));
  const average = stems.reduce((sum, { length }) => sum + length, 0) / Math.max(rows.length, 1);
  const places = new Map(words.toReversed().map((word, index) => [word, words.length - 1 - index]));
  const counted = stems.map((own) => countWords(own, places));
  const holding = new Float64Array(words.length);
  for (const counts of counted) for (const word of counts?.keys() ?? []) holding[word] = (holding[word] ?? 0) + 1;
  const weights = holding.map((rowCount) => inverseFrequency(rowCount, rows.length));
  return rows.flatMap(({ id }, row) => {
    const counts = counted[row] ?? null;
    if (counts === null) return [];
    const length = lengthFactor(stems[row]?.length ?? 0, average);
    let score = 0;
    // In one order, because sums of fractions depend on it.
    for (const [word, count] of [...counts].sort(([a], [b]) => a - b)) {
      score += (weights[word] ?? 0) * occurrenceFactor(count, length);
    }
    return [{ id, score }];
  });
}

/** By the index of the word; null if the text contains none. */
function countWords(stems: readonly string[], places: ReadonlyMap<string, number>): ReadonlyMap<number, number> | null {
  let counts: Map<number, number> | null = null;
  for (const stem of stems) {
    const word = places.get(stem);
    if (word === undefined) continue;
    counts ??= new Map();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}
