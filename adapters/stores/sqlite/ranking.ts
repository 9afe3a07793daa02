import type { EntryHit } from '../../../src/adapter-kit.ts';

/** The arithmetic of BM25. Pure. */

/** How far a word's repetition counts: as the index has it. */
export const SATURATION = 1.2;

const LENGTH_SHARE = 0.75;

export type Scores = Map<number, number>;

export function add(scores: Scores, seq: number, score: number): void {
  scores.set(seq, (scores.get(seq) ?? 0) + score);
}

/** How much a word tells that stands in `rows` of `entries`. Never negative: a word that all share tells a little. */
export function inverseFrequency(rows: number, entries: number): number {
  return Math.log(1 + (Math.max(entries - rows, 0) + 0.5) / (rows + 0.5));
}

/** What one occurrence counts in a text of this length: 1 in one of average length. */
export function lengthFactor(length: number, average: number): number {
  const relative = average > 0 ? length / average : 1;
  return (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative));
}

/** What so many occurrences count, where one alone counts `once`: each further one less. */
export function occurrenceFactor(occurrences: number, once: number): number {
  if (occurrences === 0) return 0;
  const flat = (1 + SATURATION) / once - 1;
  return (occurrences * (1 + SATURATION)) / (occurrences + flat);
}

/** The best of them, the newer first among equals. */
export function best(scores: Scores, limit: number): readonly EntryHit[] {
  const bar = barOf(scores, limit);
  const hits: EntryHit[] = [];
  for (const [seq, score] of scores) if (score >= bar) hits.push({ seq, score });
  return hits.sort((a, b) => b.score - a.score || b.seq - a.seq).slice(0, limit);
}

/** The score that the best `limit` reach. */
function barOf(scores: Scores, limit: number): number {
  if (scores.size <= limit) return 0;
  const sorted = Float64Array.from(scores.values()).sort();
  return sorted[sorted.length - limit] ?? 0;
}
