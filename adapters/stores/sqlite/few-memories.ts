import type { MemoryHit, MemoryId } from '../../../src/adapter-kit.ts';
import { inverseFrequency, stemsOf } from '../sql/index.ts';
import { lengthFactor, occurrenceFactor } from './ranking.ts';

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
  const places = new Map(words.map((word, index) => [word, index]));
  const counted = stems.map((own) => countWords(own, places));
  const weights = words.map((_, word) => inverseFrequency(holding(counted, word), rows.length));
  return rows.flatMap(({ id }, row) => {
    const counts = counted[row] ?? null;
    if (counts === null) return [];
    const length = lengthFactor(stems[row]?.length ?? 0, average);
    let score = 0;
    // In one order, because sums of fractions depend on it.
    for (let word = 0; word < counts.length; word += 1) {
      const count = counts[word] ?? 0;
      if (count > 0) score += (weights[word] ?? 0) * occurrenceFactor(count, length);
    }
    return [{ id, score }];
  });
}

/** How often the text contains each word; null if it contains none, as most do. */
function countWords(stems: readonly string[], places: ReadonlyMap<string, number>): readonly number[] | null {
  let counts: number[] | null = null;
  for (const stem of stems) {
    const word = places.get(stem);
    if (word === undefined) continue;
    counts ??= new Array<number>(places.size).fill(0);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

/** The number of texts that contain the word. */
function holding(counted: readonly (readonly number[] | null)[], word: number): number {
  let texts = 0;
  for (const counts of counted) if (counts !== null && (counts[word] ?? 0) > 0) texts += 1;
  return texts;
}
