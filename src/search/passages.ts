import { type Entry, textOf } from '../domain/message.ts';
import { type Signals, signalsOf } from './line-features.ts';
import type { Question } from './query.ts';
import { beginningOf, cachedStem } from './stem.ts';
import { tokensOf } from './words.ts';

/** One entry as the ranker sees it. */
export interface Line {
  readonly entry: Entry;
  readonly isBot: boolean;
  /** How often each term of the question occurs. */
  readonly counts: readonly number[];
  readonly hasTerms: boolean;
  readonly words: number;
  /** Pairs of the question's words found next to each other, and terms found near each other, as term indexes. */
  readonly pairs: readonly TermPair[];
  readonly near: readonly TermPair[];
  readonly signals: Signals;
}

/** -1 for a word that is not a term. */
export type TermPair = readonly [number, number];

/** Reading more of one text would add little and take long. */
const READ_CHARACTERS = 4000;
const NEAR_WORDS = 6;

/** Reads lines for one question. */
export function createLineReader(question: Question): (entry: Entry) => Line {
  const terms = new Map(question.terms.map((term, index) => [term, index]));
  const stemOf = createStemmer([...question.terms, ...[...question.pairs].flatMap((pair) => pair.split(' '))]);
  return (entry) => {
    const text = spokenText(entry).slice(0, READ_CHARACTERS);
    const stems = tokensOf(text).map(stemOf);
    const found = stems.map((stem) => terms.get(stem) ?? -1);
    const hasTerms = found.some((term) => term >= 0);
    return {
      entry,
      isBot: entry.role !== 'user',
      counts: countTerms(found, question.terms.length),
      hasTerms,
      words: stems.length,
      pairs: hasTerms ? pairsIn(stems, found, question) : [],
      near: hasTerms ? nearIn(found) : [],
      signals: signalsOf(text, { words: stems.length, question, isBot: entry.role !== 'user' }),
    };
  };
}

/** The stem of a word if it is one of these, or else nothing: most words need no stemming to see that. */
function createStemmer(wanted: readonly string[]): (token: string) => string {
  const stems = new Set(wanted);
  const beginnings = Map.groupBy(new Set(wanted.map(beginningOf)), (beginning) => beginning.charCodeAt(0));
  const known = new Map<string, string>();
  return (token) => {
    if (!beginnings.get(token.charCodeAt(0))?.some((beginning) => token.startsWith(beginning))) return '';
    const cached = known.get(token);
    if (cached !== undefined) return cached;
    const stem = cachedStem(token);
    const found = stems.has(stem) ? stem : '';
    known.set(token, found);
    return found;
  };
}

function countTerms(found: readonly number[], terms: number): readonly number[] {
  const counts = new Array<number>(terms).fill(0);
  for (const term of found) if (term >= 0) counts[term] = (counts[term] ?? 0) + 1;
  return counts;
}

function pairsIn(stems: readonly string[], found: readonly number[], question: Question): readonly TermPair[] {
  const pairs = new Map<string, TermPair>();
  for (let at = 0; at + 1 < stems.length; at++) {
    const [first, second] = [found[at] ?? -1, found[at + 1] ?? -1];
    if (first < 0 && second < 0) continue;
    const pair = `${stems[at]} ${stems[at + 1]}`;
    if (question.pairs.has(pair)) pairs.set(pair, [first, second]);
  }
  return [...pairs.values()];
}

function nearIn(found: readonly number[]): readonly TermPair[] {
  const near = new Map<string, TermPair>();
  let last = { term: -1, at: 0 };
  found.forEach((term, at) => {
    if (term < 0) return;
    if (last.term >= 0 && last.term !== term && at - last.at <= NEAR_WORDS) {
      const pair: TermPair = last.term < term ? [last.term, term] : [term, last.term];
      near.set(pair.join(' '), pair);
    }
    last = { term, at };
  });
  return [...near.values()];
}

function spokenText({ parts }: Entry): string {
  const results = parts.flatMap((part) => (part.kind === 'tool-result' ? [part.text] : []));
  return results.length === 0 ? textOf(parts) : [textOf(parts), ...results].join('\n');
}
