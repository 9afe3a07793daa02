import type { EntryHit } from '../../../src/adapter-kit.ts';

/** BM25 arithmetic. Pure. */

/** How much repetitions of a word count, as in the index. */
export const SATURATION = 1.2;

const LENGTH_SHARE = 0.75;

export type Scores = Map<number, number>;

export function add(scores: Scores, seq: number, score: number): void {
  scores.set(seq, (scores.get(seq) ?? 0) + score);
}

/** The value of one occurrence in a text of this length: 1 at average length. */
export function lengthFactor(length: number, average: number): number {
  const relative = average > 0 ? length / average : 1;
  return (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative));
}

/** The value of several occurrences if a single one counts `once`; each further one counts less. */
export function occurrenceFactor(occurrences: number, once: number): number {
  if (occurrences === 0) return 0;
  const flat = (1 + SATURATION) / once - 1;
  return (occurrences * (1 + SATURATION)) / (occurrences + flat);
}

/** The best of them, newer ones first among equals. */
export function best(scores: Scores, limit: number): EntryHit[] {
  const bar = barOf(scores, limit);
  const hits: EntryHit[] = [];
  // A loop would make a list of each pair.
  scores.forEach((score, seq) => {
    if (score >= bar) hits.push({ seq, score });
  });
  return ranked(hits).slice(0, limit);
}

/** Best first, newer ones first among equals. */
export function ranked(hits: EntryHit[]): EntryHit[] {
  return hits.sort((a, b) => b.score - a.score || b.seq - a.seq);
}

/** The minimum score of the best `limit`. */
function barOf(scores: Scores, limit: number): number {
  if (scores.size <= limit) return 0;
  const sorted = new Float64Array(scores.size);
  let at = 0;
  scores.forEach((score) => {
    sorted[at] = score;
    at += 1;
  });
  return sorted.sort()[sorted.length - limit] ?? 0;
}
