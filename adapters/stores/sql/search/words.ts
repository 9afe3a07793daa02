import { hash } from 'node:crypto';
import {
  cachedStem,
  type EntryQuery,
  isEnglish,
  isUnspaced,
  joinedWordsOf,
  latinFormsOf,
  mayBeSerbian,
  normalForm,
  otherTokensOf,
  partBeginnings,
  partedNoun,
  plainSpelling,
  sharedBeginnings,
  tellingWords,
  tokensOf,
} from '../../../../src/adapter-kit.ts';

/**
 * Words for an index, each as a 56-bit hash of its stem and its shelf (for example a conversation). So each shelf has its
 * own word lists: the cost of a search depends only on its shelf, however full the index is, and no search can see
 * another shelf. The index contains nothing readable after the text itself has been deleted.
 *
 * The same text must always give the same words, because they are needed to remove it from the index. A change requires
 * a migration that rebuilds the indexes.
 */

/** Scripts that are indexed as pairs of characters, and as single characters, because each can be a word. */
const IDEOGRAM = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu;
const ASCII = /^[ -~]*$/;
/**
 * Of a longer text, only this beginning can be found. The longest message of any platform fits; indexing more would
 * delay other conversations.
 */
const INDEXED_CHARACTERS = 40_000;
/**
 * Maximum number of different words of a text, with all forms and pairs. SQLite takes up to ten microseconds to remove
 * each from its index, all in one commit. Messages of half the length above have fewer in most languages.
 */
const INDEXED_WORDS = 8_000;
/** Maximum number of different words of a query. */
const QUERY_WORDS = 32;
/** Pairs of characters: a word has several. */
const QUERY_PAIRS = 64;

/** The words of a text in index form, in order. */
export function wordsOnShelf(shelf: number, text: string): readonly string[] {
  return wordsIn(text).map((word) => onShelf(shelf, stemOf(word)));
}

/** The same words in query form, for a text that is compared without an index. */
export function stemsOf(text: string): readonly string[] {
  const known = stems.get(text);
  if (known !== undefined) return known;
  const made = wordsIn(text).map(stemOf);
  if (stems.size >= KEPT_TEXTS) stems.clear();
  if (text.length <= SHORT_LENGTH) stems.set(text, made);
  return made;
}

/** The short texts of a place are compared with every message there. */
const stems = new Map<string, readonly string[]>();
const KEPT_TEXTS = 1000;
const SHORT_LENGTH = 400;

function wordsIn(text: string): readonly string[] {
  const part = text.slice(0, INDEXED_CHARACTERS);
  const tokens = tokensOf(part);
  const written = [...tokens, ...(mayBeSerbian(part) ? tokens.flatMap(latinFormsOf) : [])];
  const forms = isEnglish(tokens)
    ? []
    : new Set(written.flatMap((word) => [...sharedBeginnings(word), ...partBeginnings(word)]));
  const words = [...written, ...otherTokensOf(part), ...joinedWordsOf(part), ...forms];
  return firstDifferent(ASCII.test(part) ? words : [...words, ...(normalForm(part, 'NFKC').match(IDEOGRAM) ?? [])]);
}

/** The words with all their repetitions, until there are too many different ones. */
function firstDifferent(words: readonly string[]): readonly string[] {
  if (words.length <= INDEXED_WORDS) return words;
  const different = new Set<string>();
  return words.filter((word) => different.has(word) || (different.size < INDEXED_WORDS && different.add(word)));
}

function stemOf(word: string): string {
  return cachedStem(plainSpelling(word));
}

/** A word with fewer rows in a conversation is looked up by its other forms too. Further rows would rather be noise. */
export const FEW_ROWS = 20;

export interface QueryWord {
  readonly stem: string;
  /** Beginnings by which other inflections are found, for texts that are not English. */
  readonly beginnings: readonly string[];
}

/** The meaningful words; all words if every one is a stop word. */
export function queryTerms({ text, inflects }: Pick<EntryQuery, 'text' | 'inflects'>): readonly QueryWord[] {
  const part = text.slice(0, INDEXED_CHARACTERS);
  const tokens = tokensOf(part);
  const hasForms = inflects ?? !isEnglish(tokens);
  const isSerbian = hasForms && mayBeSerbian(part);
  const terms = new Map<string, QueryWord>();
  for (const word of mostOf([...tellingWords(tokens), ...otherTokensOf(part)])) {
    const stem = stemOf(word);
    const latin = isSerbian ? latinFormsOf(word) : [];
    const beginnings = [...(hasForms ? formsOf(word) : []), ...latin, ...latin.flatMap(formsOf)];
    if (!terms.has(stem)) terms.set(stem, { stem, beginnings });
  }
  return [...terms.values()];
}

/** The words that a query has room for. Every other pair is enough, because together they contain all characters. */
function mostOf(words: readonly string[]): readonly string[] {
  const all = [...new Set(words)];
  if (all.length <= QUERY_WORDS) return all;
  const whole = all.filter((word) => !isUnspaced(word)).slice(0, QUERY_WORDS);
  const pairs = all.filter(isUnspaced);
  const spread = pairs.length <= QUERY_PAIRS ? pairs : pairs.filter((_, at) => at % 2 === 0);
  return [...whole, ...spread.slice(0, QUERY_PAIRS)];
}

function formsOf(word: string): readonly string[] {
  const noun = partedNoun(word);
  return noun === null ? sharedBeginnings(word).map(stemOf) : [noun];
}

/** The stems of the meaningful words, and what their other inflections are found by. */
export function queryWords(text: string): readonly string[] {
  const terms = queryTerms({ text });
  const stems = terms.map(({ stem }) => stem);
  const most = Math.max(stems.length, QUERY_WORDS);
  return [...new Set([...stems, ...terms.flatMap(({ beginnings }) => beginnings)])].slice(0, most);
}

/**
 * The shelf of a workspace's memories: a hash of its name. A rare collision only costs time, because readers are
 * checked.
 */
export function shelfOf(workspace: string): number {
  return hash('sha256', workspace, 'buffer').readUIntBE(0, 6);
}

/** The index form of a stem on this shelf. Stemming it again would change words like "house". */
export function onShelf(shelf: number, stem: string): string {
  const { high, low } = digest(stem);
  const a = mix(high ^ mix(shelf | 0));
  const b = mix(low ^ mix((shelf / 2 ** 32) ^ a));
  return `${(a >>> 4).toString(36)}x${(b >>> 4).toString(36)}`;
}

function digest(text: string): { readonly high: number; readonly low: number } {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  return { high: mix(high), low: mix(low ^ high) };
}

/** Mixes every bit into all 32 without losing any. */
function mix(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
