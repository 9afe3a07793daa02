import { type Entry, textOf } from '../domain/message.ts';
import { readSaid, type Said } from './line-features.ts';
import type { Question } from './query.ts';
import { beginningOf, cachedStem } from './stem.ts';
import { plainTokensOf, tokensOf } from './words.ts';

/** One entry as the ranker sees it. */
export interface Line {
  readonly entry: Entry;
  readonly said: Said;
  readonly isBot: boolean;
  /** How often each term of the question occurs. */
  readonly counts: readonly number[];
  readonly hasTerms: boolean;
  readonly words: number;
  /** Pairs of the question's words found next to each other, and terms found near each other, as term indexes. */
  readonly pairs: readonly TermPair[];
  readonly near: readonly TermPair[];
}

/** -1 for a word that is not a term. */
export type TermPair = readonly [number, number];

/** Reading more of one text would add little and take long. */
const READ_CHARACTERS = 4000;
const NEAR_WORDS = 6;
const NO_PAIRS: readonly TermPair[] = [];

/** Reads lines for one question. */
export function createLineReader(question: Question): (entry: Entry) => Line {
  const terms = new Map(question.terms.map((term, index) => [term, index]));
  const stemsOf = createStemReader([...question.terms, ...[...question.pairs].flatMap((pair) => pair.split(' '))]);
  const none = new Array<number>(question.terms.length).fill(0);
  return (entry) => {
    const text = spokenText(entry).slice(0, READ_CHARACTERS);
    const stems = stemsOf(text);
    const found = stems.some((stem) => stem !== '') ? stems.map((stem) => terms.get(stem) ?? -1) : [];
    const hasTerms = found.some((term) => term >= 0);
    return {
      entry,
      isBot: entry.role !== 'user',
      words: stems.length,
      said: readSaid(text, stems.length),
      hasTerms,
      counts: hasTerms ? countTerms(found, question.terms.length) : none,
      pairs: hasTerms ? pairsIn(stems, found, question) : NO_PAIRS,
      near: hasTerms ? nearIn(found) : NO_PAIRS,
    };
  };
}

/** The stems of a text that are among these, and an empty string for each other word: most words need no stemming. */
function createStemReader(wanted: readonly string[]): (text: string) => readonly string[] {
  const stems = new Set(wanted);
  const beginnings = Map.groupBy(new Set(wanted.map(beginningOf)), (beginning) => beginning.charCodeAt(0));
  const known = new Map<string, string>();
  const stemOf = (token: string) => {
    if (!beginnings.get(token.charCodeAt(0))?.some((beginning) => token.startsWith(beginning))) return '';
    const cached = known.get(token);
    if (cached !== undefined) return cached;
    const stem = cachedStem(token);
    const found = stems.has(stem) ? stem : '';
    known.set(token, found);
    return found;
  };
  const isBeginning = (letter: number) => beginnings.has(letter);
  return (text) => {
    const words = plainTokensOf(text, isBeginning);
    return (words ?? tokensOf(text)).map((word) => (word === '' ? '' : stemOf(word)));
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
