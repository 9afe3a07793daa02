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
  const counted = stems.map((own) => countWords(own, words));
  const weights = words.map((_, word) => {
    const holding = counted.filter((counts) => (counts[word] ?? 0) > 0).length;
    return inverseFrequency(holding, rows.length);
  });
  return rows.flatMap(({ id }, row) => {
    const counts = counted[row] ?? [];
    if (!counts.some((count) => count > 0)) return [];
    const length = lengthFactor(stems[row]?.length ?? 0, average);
    const score = weights.reduce((sum, weight, word) => sum + weight * occurrenceFactor(counts[word] ?? 0, length), 0);
    return [{ id, score }];
  });
}

function countWords(stems: readonly string[], words: readonly string[]): readonly number[] {
  const counts = words.map(() => 0);
  for (const stem of stems) {
    const word = words.indexOf(stem);
    if (word >= 0) counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}
