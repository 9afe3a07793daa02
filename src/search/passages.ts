import { type Entry, textOf } from '../domain/message.ts';
import { type Signals, signalsOf } from './line-features.ts';
import type { Question } from './query.ts';
import { cachedStem } from './stem.ts';
import { tokensOf } from './words.ts';

/** One entry as the ranker sees it. */
export interface Line {
  readonly entry: Entry;
  readonly isBot: boolean;
  /** How often each term of the question occurs. */
  readonly counts: readonly number[];
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
  const known = new Map<string, number>();
  // A stem begins as its word does, so most words need no stemming.
  const beginnings = new Set(question.terms.map((term) => term.charCodeAt(0)));
  const termOf = (token: string) => {
    if (!beginnings.has(token.charCodeAt(0))) return -1;
    const cached = known.get(token);
    if (cached !== undefined) return cached;
    const term = terms.get(cachedStem(token)) ?? -1;
    known.set(token, term);
    return term;
  };
  return (entry) => {
    const text = spokenText(entry).slice(0, READ_CHARACTERS);
    const tokens = tokensOf(text);
    const found = tokens.map(termOf);
    return {
      entry,
      isBot: entry.role !== 'user',
      counts: countTerms(found, question.terms.length),
      words: tokens.length,
      pairs: pairsIn(tokens, found, question),
      near: nearIn(found),
      signals: signalsOf(text, { words: tokens.length, question, isBot: entry.role !== 'user' }),
    };
  };
}

function countTerms(found: readonly number[], terms: number): readonly number[] {
  const counts = new Array<number>(terms).fill(0);
  for (const term of found) if (term >= 0) counts[term] = (counts[term] ?? 0) + 1;
  return counts;
}

function pairsIn(tokens: readonly string[], found: readonly number[], question: Question): readonly TermPair[] {
  const pairs = new Map<string, TermPair>();
  for (let at = 0; at + 1 < tokens.length; at++) {
    const [first, second] = [found[at] ?? -1, found[at + 1] ?? -1];
    if (first < 0 && second < 0) continue;
    const pair = `${cachedStem(tokens[at] ?? '')} ${cachedStem(tokens[at + 1] ?? '')}`;
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

function spokenText(entry: Entry): string {
  const results = entry.parts.flatMap((part) => (part.kind === 'tool-result' ? [part.text] : []));
  return results.length === 0 ? textOf(entry.parts) : [textOf(entry.parts), ...results].join('\n');
}
