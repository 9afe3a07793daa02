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
  readonly places: ReadonlyMap<string, readonly Place[]>;
}

interface Place {
  readonly row: number;
  /** What the word adds to the score of the text. */
  readonly gain: number;
}

export type FewTexts = (rows: readonly MemoryText[]) => IndexedTexts;

/** Indexes each list once, for all queries between two changes of memories, and a list that is read again as before. */
export function createFewTexts(): FewTexts {
  const made = new WeakMap<readonly MemoryText[], IndexedTexts>();
  let last: { readonly rows: readonly MemoryText[]; readonly indexed: IndexedTexts } | null = null;
  return (rows) => {
    const known = made.get(rows);
    if (known !== undefined) return known;
    const indexed = last !== null && areSame(rows, last.rows) ? last.indexed : indexTexts(rows);
    made.set(rows, indexed);
    last = { rows, indexed };
    return indexed;
  };
}

function areSame(one: readonly MemoryText[], other: readonly MemoryText[]): boolean {
  return (
    one.length === other.length && one.every(({ id, text }, row) => other[row]?.id === id && other[row]?.text === text)
  );
}

export function indexTexts(rows: readonly MemoryText[]): IndexedTexts {
  const stems = rows.map(({ text }) => stemsOf(text));
  const average = stems.reduce((sum, { length }) => sum + length, 0) / Math.max(rows.length, 1);
  const counts = new Map<string, Map<number, number>>();
  for (const [row, own] of stems.entries()) {
    for (const stem of own) {
      const ofStem = counts.get(stem) ?? new Map<number, number>();
      counts.set(stem, ofStem.set(row, (ofStem.get(row) ?? 0) + 1));
    }
  }
  const lengths = stems.map(({ length }) => lengthFactor(length, average));
  const places = new Map<string, readonly Place[]>();
  for (const [stem, ofStem] of counts) {
    const weight = inverseFrequency(ofStem.size, rows.length);
    const gainOf = (row: number, count: number) => weight * occurrenceFactor(count, lengths[row] ?? 1);
    places.set(
      stem,
      Array.from(ofStem, ([row, count]) => ({ row, gain: gainOf(row, count) })),
    );
  }
  return { ids: rows.map(({ id }) => id), places };
}

/** BM25 of the texts, as an index of only these texts would compute it. Pure. */
export function weighTexts({ ids, places }: IndexedTexts, words: readonly string[]): readonly MemoryHit[] {
  const scores = new Float64Array(ids.length);
  // In one order, because sums of fractions depend on it.
  for (const word of words) {
    for (const { row, gain } of places.get(word) ?? NOWHERE) scores[row] = (scores[row] ?? 0) + gain;
  }
  const hits: MemoryHit[] = [];
  for (const [row, id] of ids.entries()) {
    const score = scores[row] ?? 0;
    if (score > 0) hits.push({ id, score });
  }
  return hits;
}

const NOWHERE: readonly Place[] = [];
