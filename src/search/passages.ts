import { type Entry, textOf } from '../domain/message.ts';
import { formOf, isInflection } from './inflection.ts';
import { readSaid, type Said } from './line-features.ts';
import type { Question } from './query.ts';
import { beginningOf, cachedStem } from './stem.ts';
import { readTokens, type TokenReader } from './words.ts';

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

/** The words of a text that are in the question, in order. One object for all texts: it is rewritten for each. */
interface Found {
  /** How many there are. The lists may be longer. */
  size: number;
  /** Places among all words of the text. */
  readonly places: number[];
  readonly stems: string[];
  /** Indexes of terms; -1 for a word that is only in a pair. */
  readonly terms: number[];
}

/** Reads lines for one question. */
export function createLineReader(question: Question): (entry: Entry) => Line {
  const found: Found = { size: 0, places: [], stems: [], terms: [] };
  const reader = createWordReader(question, found);
  const none = new Array<number>(question.terms.length).fill(0);
  return (entry) => {
    const text = spokenText(entry).slice(0, READ_CHARACTERS);
    found.size = 0;
    const words = readTokens(text, reader);
    const hasTerms = isAnyTerm(found);
    return {
      entry,
      isBot: entry.role !== 'user',
      words,
      said: readSaid(text, words),
      hasTerms,
      counts: hasTerms ? countTerms(found, question.terms.length) : none,
      pairs: hasTerms ? pairsIn(found, question) : NO_PAIRS,
      near: hasTerms ? nearIn(found) : NO_PAIRS,
    };
  };
}

function createWordReader(question: Question, found: Found): TokenReader {
  const terms = new Map(question.terms.map((term, index) => [term, index]));
  const { stemOf, isOpening } = createStemmer(question);
  return {
    isWanted: isOpening,
    token(token, at) {
      const stem = stemOf(token);
      if (stem === '') return;
      found.places[found.size] = at;
      found.stems[found.size] = stem;
      found.terms[found.size] = terms.get(stem) ?? -1;
      found.size += 1;
    },
  };
}

/** The stem of a word that is in the question; an empty string for all others, of which most need no stemming. */
function createStemmer({ terms, pairs, inflects, hasShortEndings }: Question) {
  const wanted = [...terms, ...[...pairs].flatMap((pair) => pair.split(' '))];
  const stems = new Set(wanted);
  const beginnings = Map.groupBy(new Set(wanted.map(beginningOf)), (beginning) => beginning.charCodeAt(0));
  const forms = formsOf(inflects ? terms : []);
  const known = new Map<string, string>();
  const openings = new Set([...wanted.map(beginningOf), ...(inflects ? terms.map(formOf) : [])].map(openingOf));
  return {
    isOpening: (first: number, second: number) =>
      openings.has(twoLetters(first, second)) || openings.has(twoLetters(first, 0)),
    stemOf(token: string): string {
      const isLikely = beginnings.get(token.charCodeAt(0))?.some((beginning) => token.startsWith(beginning));
      if (!isLikely && !inflects) return '';
      const cached = known.get(token);
      if (cached !== undefined) return cached;
      const stem = cachedStem(token);
      const match = stems.has(stem) ? stem : termOfForm(forms, formOf(token), hasShortEndings);
      known.set(token, match);
      return match;
    },
  };
}

/** The first two letters as one number. */
function openingOf(word: string): number {
  return twoLetters(word.charCodeAt(0), word.length > 1 ? word.charCodeAt(1) : 0);
}

function twoLetters(first: number, second: number): number {
  return first * 0x10000 + second;
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
function termOfForm(forms: Forms, said: string, hasShortEndings: boolean): string {
  const alike = forms.get(said.charCodeAt(0));
  return alike?.find(({ form }) => form === said || isInflection(form, said, hasShortEndings))?.term ?? '';
}

function isAnyTerm({ size, terms }: Found): boolean {
  for (let at = 0; at < size; at += 1) if ((terms[at] ?? -1) >= 0) return true;
  return false;
}

function countTerms({ size, terms: found }: Found, terms: number): readonly number[] {
  const counts = new Array<number>(terms).fill(0);
  for (let at = 0; at < size; at += 1) {
    const term = found[at] ?? -1;
    if (term >= 0) counts[term] = (counts[term] ?? 0) + 1;
  }
  return counts;
}

function pairsIn({ size, places, stems, terms }: Found, question: Question): readonly TermPair[] {
  let pairs: Map<string, TermPair> | undefined;
  for (let at = 0; at + 1 < size; at += 1) {
    const first = terms[at] ?? -1;
    const second = terms[at + 1] ?? -1;
    if ((first < 0 && second < 0) || (places[at] ?? 0) + 1 !== places[at + 1]) continue;
    const pair = `${stems[at]} ${stems[at + 1]}`;
    if (!question.pairs.has(pair)) continue;
    pairs ??= new Map();
    pairs.set(pair, [first, second]);
  }
  return pairs === undefined ? NO_PAIRS : [...pairs.values()];
}

function nearIn({ size, places, terms }: Found): readonly TermPair[] {
  let near: Map<string, TermPair> | undefined;
  let last = -1;
  let lastPlace = 0;
  for (let at = 0; at < size; at += 1) {
    const term = terms[at] ?? -1;
    const place = places[at] ?? 0;
    if (term < 0) continue;
    if (last >= 0 && last !== term && place - lastPlace <= NEAR_WORDS) {
      const pair: TermPair = last < term ? [last, term] : [term, last];
      near ??= new Map();
      near.set(pair.join(' '), pair);
    }
    last = term;
    lastPlace = place;
  }
  return near === undefined ? NO_PAIRS : [...near.values()];
}

function spokenText({ parts }: Entry): string {
  if (!parts.some((part) => part.kind === 'tool-result')) return textOf(parts);
  const results = parts.flatMap((part) => (part.kind === 'tool-result' ? [part.text] : []));
  return [textOf(parts), ...results].join('\n');
}
