import type { SpecificKind } from '../../ports/summary-store.ts';
import { withPlainDigits } from '../words/plain-spelling.ts';
import { CALENDAR } from './specific-words.ts';

/** A longer token is data, such as an encoded file. */
const MAX_TOKEN = 300;
/** A number of this many digits with hyphens is a code, such as a telephone number. */
const MIN_CODE_DIGITS = 7;
/** More letters than this after a number make it a code: "7th" and "20km" are numbers, "12ABCD" is not. */
const MAX_UNIT = 3;

const LINK =
  /^(?:https?:\/\/|www\.)[^\s]+$|^[\w.+-]+@[\w-]+\.[\w.-]+$|^(?:[\w-]+\.)+(?:com|org|net|io|dev|gg|app|[a-z]{2})\/[^\s]+$/iu;
const PATH =
  /^(?:(?:~|\.{1,2}|[a-z]:)?[\\/]|\\\\)[\p{L}\p{N}_.@+-]+|^[\p{L}\p{N}_.@+-]+[\\/][\p{L}\p{N}_.@+-]+[\\/]|^[\p{L}\p{N}_-]{2,}\.[a-z][a-z0-9]{1,4}$/iu;
const DATE =
  /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$|^\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m)?$|^\d{1,4}[年년月월].*[月월日号號일]$/iu;
const NUMBER = /^[#+$€£¥₽₹−-]?[\p{Nd}¼-¾⅐-⅞][\p{Nd}.,:'’٫٬¼-¾⅐-⅞]*(\p{L}+|[%‰°€$£¥₽₹٪])?$/u;
const NUMERIC = /[\p{Nd}¼-¾⅐-⅞]/u;
/** An ending that many languages attach to a number ("4471'e"). */
const ENDING = /['’]\p{L}+$/u;
const CODE = /^[\p{L}\p{N}._:#-]+$/u;
/** Identifiers in programs and protocols. */
const IDENTIFIER = /^\p{L}[\p{L}\p{N}]*(?:_[\p{L}\p{N}]+)+$|^(?:[\da-f]{2}[:-]){5}[\da-f]{2}$/iu;
/** A capital after another letter marks a name even at the beginning of a sentence: "iPhone", "ECONNREFUSED". */
const INNER_CAPITAL = /^\p{L}[^\p{Lu}\P{L}]*\p{Lu}\p{L}*$/u;
const MAX_SHOUTED = 5;
/** Most words. */
const ORDINARY = /^\p{Ll}+$/u;
const PLAIN_NUMBER = /^\d+$/;
const NAME = /^[@#]?\p{Lu}[\p{L}\p{M}\p{N}'’.-]*$|^[@#][\p{L}\p{N}_-]+$/u;
/** Words that are also months when they begin with a capital. */
const AMBIGUOUS = new Set(['may', 'march', 'mars', 'mart', 'ocak', 'ekim', 'vou']);
const NO_NAMES = new Set(['i', "i'm", "i'll", "i've", "i'd", 'ok', 'okay', 'lol', 'omg', 'tv', 'pm', 'am']);

/** The kind of one word without the punctuation around it; null for an ordinary word. */
export function kindOfToken(said: string, { isOpening }: { readonly isOpening: boolean }): SpecificKind | null {
  if (said.length > MAX_TOKEN || ORDINARY.test(said)) return null;
  if (PLAIN_NUMBER.test(said)) return 'number';
  const word = withPlainDigits(said);
  if (LINK.test(word)) return 'link';
  if (DATE.test(word)) return 'date';
  if (IDENTIFIER.test(word)) return 'code';
  if (NUMERIC.test(word)) return numericKind(word.replace(ENDING, ''));
  if (PATH.test(word)) return 'path';
  return isName(word, isOpening) ? 'name' : null;
}

function isName(word: string, isOpening: boolean): boolean {
  if (NO_NAMES.has(word.toLowerCase().replaceAll('’', "'"))) return false;
  if (hasInnerCapital(word)) return true;
  return NAME.test(word) && (!isOpening || word.startsWith('@'));
}

/** Short words in capitals only are usually shouted, and not names. */
function hasInnerCapital(word: string): boolean {
  return INNER_CAPITAL.test(word) && (word.length > MAX_SHOUTED || word.toUpperCase() !== word);
}

function numericKind(word: string): SpecificKind {
  if (/[\\/]/u.test(word) && PATH.test(word)) return 'path';
  const number = NUMBER.exec(word);
  if (number !== null) return (number[1] ?? '').length > MAX_UNIT ? 'code' : 'number';
  const digits = word.match(/\p{Nd}/gu)?.length ?? 0;
  const isRange = /^[\p{Nd}.,:/–-]+$/u.test(word);
  if (isRange) return digits >= MIN_CODE_DIGITS ? 'code' : 'number';
  return CODE.test(word) ? 'code' : 'number';
}

/** The further groups of a number: thousands ("1 234,56"), or parts of a telephone, card or account number. */
export const THOUSANDS = /^\p{Nd}{3}(?:[.,٫]\p{Nd}+)?$/u;
const GROUP = /^[\d-]{2,}$/;
const ACCOUNT = /^[A-Z]{2}\d{2}$/;
const ACCOUNT_GROUP = /^[A-Z\d]{1,4}$/;

/** How many of the words, which are one space apart, form one number. */
export function groupLength(words: readonly string[]): number {
  const [first = '', ...others] = words.map(withPlainDigits);
  const count = (pattern: RegExp) => {
    const end = others.findIndex((word) => !pattern.test(word));
    return end < 0 ? others.length : end;
  };
  if (ACCOUNT.test(first)) return count(ACCOUNT_GROUP) > 1 ? 1 + count(ACCOUNT_GROUP) : 1;
  if (!/^[+$€£¥₽₹-]?\d+$/.test(first)) return 1;
  if (/^\D?\d{1,3}$/.test(first) && count(THOUSANDS) > 0 && count(THOUSANDS) >= count(GROUP))
    return 1 + count(THOUSANDS);
  const groups = 1 + count(GROUP);
  const digits = [first, ...others].slice(0, groups).join('').replace(/\D/g, '').length;
  return groups > 1 && digits >= MIN_CODE_DIGITS ? groups : 1;
}

/** A number that can be part of a date. */
export function isPlainNumber(word: string): boolean {
  return word.length <= 6 && /^\p{Nd}{1,4}(?:\.|\p{L}{2})?$/u.test(word);
}

/** The English name of a month or weekday in any of the known languages; null for other words. */
export function calendarWord(word: string): string | null {
  const folded = word.toLowerCase().replace(/['’]s$/u, '');
  if (folded === word && AMBIGUOUS.has(folded)) return null;
  return CALENDAR.get(folded) ?? CALENDAR.get(folded.replace(/s$/u, '')) ?? null;
}
