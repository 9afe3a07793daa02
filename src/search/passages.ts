import { type Entry, textOf } from '../domain/message.ts';
import { formOf, isInflection } from './inflection.ts';
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
  const stemsOf = createStemReader(question);
  const none = new Array<number>(question.terms.length).fill(0);
  return (entry) => {
    const text = spokenText(entry).slice(0, READ_CHARACTERS);
    const stems = stemsOf(text);
    const found = termsAmong(stems, terms);
    const hasTerms = found !== null;
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

/** For each stem, its term or -1. Null if there is no term, as in most lines. */
function termsAmong(stems: readonly string[], terms: ReadonlyMap<string, number>): readonly number[] | null {
  const isAny = stems.some((stem) => stem !== '' && terms.has(stem));
  return isAny ? stems.map((stem) => terms.get(stem) ?? -1) : null;
}

/** The stems of a text that are in the question, and an empty string for each other word: most need no stemming. */
function createStemReader({ terms, pairs, inflects }: Question): (text: string) => readonly string[] {
  const wanted = [...terms, ...[...pairs].flatMap((pair) => pair.split(' '))];
  const stems = new Set(wanted);
  const beginnings = Map.groupBy(new Set(wanted.map(beginningOf)), (beginning) => beginning.charCodeAt(0));
  const forms = formsOf(inflects ? terms : []);
  const known = new Map<string, string>();
  const stemOf = (token: string) => {
    const isLikely = beginnings.get(token.charCodeAt(0))?.some((beginning) => token.startsWith(beginning));
    if (!isLikely && !inflects) return '';
    const cached = known.get(token);
    if (cached !== undefined) return cached;
    const stem = cachedStem(token);
    const found = stems.has(stem) ? stem : termOfForm(forms, formOf(token));
    known.set(token, found);
    return found;
  };
  const isBeginning = (letter: number) => beginnings.has(letter) || forms.has(letter);
  return (text) => {
    const words = plainTokensOf(text, isBeginning) ?? tokensOf(text);
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] ?? '';
      if (word !== '') words[at] = stemOf(word);
    }
    return words;
  };
}

/** By their first letter. */
type Forms = ReadonlyMap<number, readonly { readonly term: string; readonly form: string }[]>;

function formsOf(terms: readonly string[]): Forms {
  return Map.groupBy(
    terms.map((term) => ({ term, form: formOf(term) })),
    ({ form }) => form.charCodeAt(0),
  );
}

/** The term that a word may be another inflection of. */
function termOfForm(forms: Forms, said: string): string {
  const alike = forms.get(said.charCodeAt(0));
  return alike?.find(({ form }) => form === said || isInflection(form, said))?.term ?? '';
}

function countTerms(found: readonly number[], terms: number): readonly number[] {
  const counts = new Array<number>(terms).fill(0);
  for (let at = 0; at < found.length; at += 1) {
    const term = found[at] ?? -1;
    if (term >= 0) counts[term] = (counts[term] ?? 0) + 1;
  }
  return counts;
}

function pairsIn(stems: readonly string[], found: readonly number[], question: Question): readonly TermPair[] {
  let pairs: Map<string, TermPair> | undefined;
  for (let at = 0; at + 1 < stems.length; at++) {
    const first = found[at] ?? -1;
    const second = found[at + 1] ?? -1;
    // A stem that the question lacks is in no pair of it.
    if ((first < 0 && second < 0) || stems[at] === '' || stems[at + 1] === '') continue;
    const pair = `${stems[at]} ${stems[at + 1]}`;
    if (!question.pairs.has(pair)) continue;
    pairs ??= new Map();
    pairs.set(pair, [first, second]);
  }
  return pairs === undefined ? NO_PAIRS : [...pairs.values()];
}

function nearIn(found: readonly number[]): readonly TermPair[] {
  let near: Map<string, TermPair> | undefined;
  let last = -1;
  let lastAt = 0;
  for (let at = 0; at < found.length; at += 1) {
    const term = found[at] ?? -1;
    if (term < 0) continue;
    if (last >= 0 && last !== term && at - lastAt <= NEAR_WORDS) {
      const pair: TermPair = last < term ? [last, term] : [term, last];
      near ??= new Map();
      near.set(pair.join(' '), pair);
    }
    last = term;
    lastAt = at;
  }
  return near === undefined ? NO_PAIRS : [...near.values()];
}

function spokenText({ parts }: Entry): string {
  if (!parts.some((part) => part.kind === 'tool-result')) return textOf(parts);
  const results = parts.flatMap((part) => (part.kind === 'tool-result' ? [part.text] : []));
  return [textOf(parts), ...results].join('\n');
}
