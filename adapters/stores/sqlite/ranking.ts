import type { EntryHit } from '../../../src/adapter-kit.ts';
import { LENGTH_SHARE, SATURATION } from '../sql/index.ts';

/** BM25 arithmetic. Pure. */

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

/** What one word adds to entries: each once, newest first. */
export interface Posting {
  readonly seqs: readonly number[];
  readonly weight: number;
}

/** The best of the entries with the sum of what the postings add to each. Merged without a table of all entries. */
export function bestOf(postings: readonly Posting[], limit: number): EntryHit[] {
  const most = postings.reduce((sum, { seqs }) => sum + seqs.length, 0);
  const seqs = new Int32Array(most);
  const scores = new Float64Array(most);
  const places = new Uint32Array(postings.length);
  let size = 0;
  for (let seq = newest(postings, places); seq >= 0; seq = newest(postings, places)) {
    seqs[size] = seq;
    scores[size] = take(postings, places, seq);
    size += 1;
  }
  return best(seqs.subarray(0, size), scores.subarray(0, size), limit);
}

/** The newest entry that is not taken yet; -1 at the end. */
function newest(postings: readonly Posting[], places: Uint32Array): number {
  let seq = -1;
  for (let word = 0; word < postings.length; word += 1) {
    const own = postings[word]?.seqs[places[word] ?? 0] ?? -1;
    if (own > seq) seq = own;
  }
  return seq;
}

function take(postings: readonly Posting[], places: Uint32Array, seq: number): number {
  let score = 0;
  for (let word = 0; word < postings.length; word += 1) {
    const place = places[word] ?? 0;
    if (postings[word]?.seqs[place] !== seq) continue;
    score += postings[word]?.weight ?? 0;
    places[word] = place + 1;
  }
  return score;
}

function best(seqs: Int32Array, scores: Float64Array, limit: number): EntryHit[] {
  const bar = scores.length <= limit ? 0 : (scores.toSorted()[scores.length - limit] ?? 0);
  const hits: EntryHit[] = [];
  for (let at = 0; at < scores.length; at += 1) {
    const score = scores[at] ?? 0;
    if (score >= bar) hits.push({ seq: seqs[at] ?? 0, score });
  }
  return ranked(hits).slice(0, limit);
}

/** Best first, newer ones first among equals. */
export function ranked(hits: EntryHit[]): EntryHit[] {
  // A difference of scores would be an object for each comparison.
  return hits.sort((a, b) => (a.score === b.score ? b.seq - a.seq : a.score < b.score ? 1 : -1));
}
