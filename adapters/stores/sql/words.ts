import { cachedStem, joinedWordsOf, tellingWords, tokensOf } from '../../../src/adapter-kit.ts';

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
const DECORATION = /[\u0300-\u036f]/g;
const ASCII = /^[ -~]*$/;
/** Han characters and Hangul syllables have no removable marks. */
const UNMARKED = /^[\u3400-\u9fff\uac00-\ud7a3]*$/;
/**
 * Per text; further words are stored but not found. The longest message of any platform fits; indexing more would delay
 * other conversations.
 */
const INDEXED_CHARACTERS = 40_000;
const QUERY_WORDS = 32;

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
  const words = [...tokensOf(part), ...joinedWordsOf(part)];
  return ASCII.test(part) ? words : [...words, ...(part.normalize('NFKC').match(IDEOGRAM) ?? [])];
}

function stemOf(word: string): string {
  return cachedStem(plain(word));
}

/** The stems of the meaningful words; of all words if every one is a stop word. */
export function queryWords(text: string): readonly string[] {
  const stems = tellingWords(tokensOf(text.slice(0, INDEXED_CHARACTERS))).map(stemOf);
  return [...new Set(stems)].slice(0, QUERY_WORDS);
}

/** The index form of a stem on this shelf. Stemming it again would change words like "house". */
export function onShelf(shelf: number, stem: string): string {
  const { high, low } = digest(stem);
  const a = mix(high ^ mix(shelf | 0));
  const b = mix(low ^ mix((shelf / 2 ** 32) ^ a));
  return `${(a >>> 4).toString(36)}x${(b >>> 4).toString(36)}`;
}

/** Without decorating marks. */
function plain(word: string): string {
  if (ASCII.test(word) || UNMARKED.test(word)) return word;
  return word.normalize('NFD').replace(DECORATION, '').normalize('NFC');
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
