import type { MemoryHit, MemoryId } from '../../../src/adapter-kit.ts';
import { inverseFrequency, stemsOf } from '../sql/index.ts';
import { lengthFactor, occurrenceFactor } from './ranking.ts';

/** Up to this many texts are read directly; querying the index for every word costs more. */
export const FEW_MEMORIES = 150;

export interface MemoryText {
  readonly id: MemoryId;
  readonly text: string;
}

/** Where each word of some texts occurs. */
export interface IndexedTexts {
  readonly ids: readonly MemoryId[];
  /** By how much each text counts for its length. */
  readonly lengths: readonly number[];
  readonly places: ReadonlyMap<string, readonly Place[]>;
}

interface Place {
  readonly row: number;
  readonly count: number;
}

export type FewTexts = (rows: readonly MemoryText[]) => IndexedTexts;

/** Indexes each list once, for all queries between two changes of memories. */
export function createFewTexts(): FewTexts {
  const made = new WeakMap<readonly MemoryText[], IndexedTexts>();
  return (rows) => {
    const known = made.get(rows) ?? indexTexts(rows);
    made.set(rows, known);
    return known;
  };
}

export function indexTexts(rows: readonly MemoryText[]): IndexedTexts {
  const stems = rows.map(({ text }) => stemsOf(text));
  const average = stems.reduce((sum, { length }) => sum + length, 0) / Math.max(rows.length, 1);
  const places = new Map<string, Place[]>();
  for (const [row, own] of stems.entries()) {
    for (const [stem, same] of Map.groupBy(own, (word) => word)) {
      const known = places.get(stem);
      if (known === undefined) places.set(stem, [{ row, count: same.length }]);
      else known.push({ row, count: same.length });
    }
  }
  return { ids: rows.map(({ id }) => id), lengths: stems.map(({ length }) => lengthFactor(length, average)), places };
}

/** BM25 of the texts, as an index of only these texts would compute it. Pure. */
export function weighTexts({ ids, lengths, places }: IndexedTexts, words: readonly string[]): readonly MemoryHit[] {
  const scores = new Map<number, number>();
  // In one order, because sums of fractions depend on it.
  for (const word of words) {
    const found = places.get(word);
    if (found === undefined) continue;
    const weight = inverseFrequency(found.length, ids.length);
    for (const { row, count } of found)
      scores.set(row, (scores.get(row) ?? 0) + weight * occurrenceFactor(count, lengths[row] ?? 1));
  }
  return ids.flatMap((id, row) => {
    const score = scores.get(row);
    return score === undefined ? [] : [{ id, score }];
  });
}
