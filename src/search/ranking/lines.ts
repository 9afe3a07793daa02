import { type Entry, textOf } from '../../domain/message.ts';
import { valuesIn } from '../specifics/written-values.ts';
import {
  canEndCompound,
  formsOf,
  isInflection,
  isPartOf,
  MIN_COMPOUND,
  PART_FROM,
  withDigraph,
} from '../words/inflection.ts';
import { marksOf, plainSpelling } from '../words/plain-spelling.ts';
import { beginningOf, cachedStem } from '../words/stem.ts';
import { isEnglish } from '../words/stop-words.ts';
import { latinFormsOf } from '../words/two-alphabets.ts';
import { readSaid, type Said } from './line-features.ts';
import type { Question } from './question.ts';
import { lowerOf, readTokens, type TokenReader } from './read-tokens.ts';
import { emojiIn, groupedNumbersIn } from './word-parts.ts';

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
/** In longer ones, such as code, the parts of words are rather those of other words. */
const MAX_PARTED = 1000;
/** This many long messages are read up to the end of their indexed part if the word is further down, as in a log. */
const MAX_READ_ON = 16;
const MAX_CHARACTERS = 40_000;
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

/** Reads lines for one question. `isProposed`: the index has found a word of the question in the entry. */
export function createLineReader(question: Question): (entry: Entry, isProposed: boolean) => Line {
  const found: Found = { size: 0, places: [], stems: [], terms: [] };
  const reader = createWordReader(question, found);
  const wordReader = { ...reader, part: null };
  const namesIn = createNameReader(question);
  const none = new Array<number>(question.terms.length).fill(0);
  const read = (entry: Entry, text: string): Line => {
    found.size = 0;
    const words = readTokens(text, text.length > MAX_PARTED ? wordReader : reader);
    for (const name of namesIn(text)) reader.token(name, words);
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
  let readOn = 0;
  return (entry, isProposed) => {
    const text = spokenText(entry);
    const line = read(entry, text.slice(0, READ_CHARACTERS));
    if (line.hasTerms || !isProposed || text.length <= READ_CHARACTERS || readOn >= MAX_READ_ON) return line;
    readOn += 1;
    return read(entry, text.slice(READ_CHARACTERS, MAX_CHARACTERS));
  };
}

/** As long as a number with groups. */
const LONG_NUMBER = /^\d{4,}$/;

/** Numbers in groups, emoji and values, if the question has any. */
function createNameReader({ words }: Question): (text: string) => readonly string[] {
  const hasNumber = words.some((word) => LONG_NUMBER.test(plainSpelling(word)));
  const hasDigit = words.some((word) => /\d/.test(plainSpelling(word)));
  const hasEmoji = words.some((word) => emojiIn(word).length > 0);
  return (text) => [
    ...(hasNumber ? groupedNumbersIn(text) : []),
    ...(hasEmoji ? emojiIn(text) : []),
    ...(hasDigit ? valuesIn(text) : []),
  ];
}

function createWordReader(question: Question, found: Found): TokenReader {
  const terms = new Map(question.terms.map((term, index) => [term, index]));
  const { stemOf, isWanted } = createStemmer(question);
  const add = (token: string, at: number) => {
    const stem = stemOf(token);
    if (stem === '') return;
    found.places[found.size] = at;
    found.stems[found.size] = stem;
    found.terms[found.size] = terms.get(stem) ?? -1;
    found.size += 1;
  };
  return { isWanted, token: add, part: add };
}

/** The stem of a word that is in the question; an empty string for all others, of which most need no stemming. */
function createStemmer(question: Question) {
  const { terms, pairs, inflects, isSerbian, hasShortEndings } = question;
  const asked = Map.groupBy(question.words, (word) => cachedStem(plainSpelling(word)));
  const wanted = [...terms, ...[...pairs].flatMap((pair) => pair.split(' '))];
  const stems = new Set(wanted);
  const beginnings = Map.groupBy(new Set(wanted.map(beginningOf)), (beginning) => beginning.charCodeAt(0));
  const formsIn = (term: string) => [...formsOf(term), ...(isSerbian ? latinFormsOf(term) : [])];
  const forms = inflects ? terms.flatMap((term) => formsIn(term).map((form) => ({ term, form }))) : [];
  const parts = forms.filter(({ form }) => canEndCompound(form));
  const termOfForm = createMatcher({ forms, parts, hasShortEndings });
  const isLikely = (word: string) =>
    beginnings.get(word.charCodeAt(0))?.some((beginning) => word.startsWith(beginning)) === true;
  const known = new Map<string, string>();
  const matchOf = (token: string) => {
    const spelling = plainSpelling(token);
    const stem = isLikely(spelling) ? cachedStem(spelling) : '';
    const isSame = stems.has(stem) && (inflects || isSpelledAlike(token, asked.get(stem) ?? []));
    if (isSame || !inflects) return isSame ? stem : '';
    return termOfForm([...formsOf(token), ...latinFormsOf(token)]);
  };
  return {
    isWanted: createSieve([...wanted.map(beginningOf), ...forms.map(({ form }) => form)], parts),
    stemOf(token: string): string {
      const cached = known.get(token);
      if (cached !== undefined) return cached;
      const match = matchOf(token);
      known.set(token, match);
      return match;
    },
  };
}

/** Which ASCII words are worth a look: by their first letters, or by those of a word that they may end with. */
function createSieve(beginnings: readonly string[], parts: Forms): TokenReader['isWanted'] {
  const openings = openingsOf(beginnings);
  const partOpenings = openingsOf(parts.map(({ form }) => form));
  return (text, start, end) => {
    const first = lowerOf(text.charCodeAt(start));
    const second = lowerOf(text.charCodeAt(start + 1));
    if (openings.has(twoLetters(first, second)) || openings.has(twoLetters(first, 0))) return true;
    if (partOpenings.size === 0 || end - start < MIN_COMPOUND) return false;
    for (let at = start + PART_FROM; at + 1 < end; at += 1) {
      if (partOpenings.has(twoLetters(lowerOf(text.charCodeAt(at)), lowerOf(text.charCodeAt(at + 1))))) return true;
    }
    return false;
  };
}

/** An umlaut at the beginning is also two letters. */
function openingsOf(words: readonly string[]): ReadonlySet<number> {
  return new Set(words.flatMap((word) => [word, withDigraph(word)]).map(openingOf));
}

/** Accents distinguish words without inflection, unless the writer left them out. English words have none to leave out. */
function isSpelledAlike(said: string, asked: readonly string[]): boolean {
  const wanted = asked.map(marksOf);
  const marks = marksOf(said);
  if (asked.length === 0 || wanted.includes(marks) || wanted.includes('')) return true;
  return marks === '' && !isEnglish([said]);
}

/** The first two letters as one number. */
function openingOf(word: string): number {
  return twoLetters(word.charCodeAt(0), word.length > 1 ? word.charCodeAt(1) : 0);
}

function twoLetters(first: number, second: number): number {
  return first * 0x10000 + second;
}

/** Of the question's terms. */
type Forms = readonly { readonly term: string; readonly form: string }[];

interface Matching {
  readonly forms: Forms;
  /** What compounds may end with. */
  readonly parts: Forms;
  readonly hasShortEndings: boolean;
}

/** Finds the term that a word may be another inflection of, or that a compound ends with. */
function createMatcher({ forms, parts, hasShortEndings }: Matching): (said: readonly string[]) => string {
  const isSame = (form: string, other: string) => form === other || isInflection(form, other, hasShortEndings);
  const isPart = (form: string, other: string) => isPartOf(form, other, hasShortEndings);
  return (said) => {
    const among = (asked: Forms, isMatch: typeof isSame) =>
      asked.find(({ form }) => said.some((other) => isMatch(form, other)))?.term;
    return among(forms, isSame) ?? among(parts, isPart) ?? '';
  };
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
