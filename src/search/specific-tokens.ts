import type { SpecificKind } from '../ports/summary-store.ts';
import { CALENDAR } from './specific-words.ts';

/** A longer token is data, such as an encoded file. */
const MAX_TOKEN = 300;
/** A number of this many digits with hyphens is a code, such as a telephone number. */
const MIN_CODE_DIGITS = 7;
/** More letters than this after a number make it a code: "7th" and "20km" are numbers, "12ABCD" is not. */
const MAX_UNIT = 3;

const LINK = /^(?:https?:\/\/|www\.)[^\s]+$|^[\w.+-]+@[\w-]+\.[\w.-]+$/iu;
const PATH = /^(?:~|\.{1,2}|[a-z]:)?[\\/][\w.@+-]+|^[\w.@+-]+[\\/][\w.@+-]+[\\/]|^[\w-]{2,}\.[a-z][a-z0-9]{1,4}$/iu;
const DATE = /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$|^\d{1,2}:\d{2}(?::\d{2})?(?:[ap]m)?$/iu;
const NUMBER = /^[#+$€£¥₽₹-]?\p{Nd}[\p{Nd}.,:'’]*(\p{L}+|[%‰°€$£¥₽₹])?$/u;
const CODE = /^[\p{L}\p{N}._:#-]+$/u;
const NAME = /^[@#]?\p{Lu}[\p{L}\p{M}\p{N}'’.-]*$|^[@#][\p{L}\p{N}_-]+$/u;
/** Words that are also months when they begin with a capital. */
const AMBIGUOUS = new Set(['may', 'march', 'mars', 'mart', 'ocak', 'ekim', 'vou']);
const NO_NAMES = new Set(['i', "i'm", "i'll", "i've", "i'd", 'ok', 'okay', 'lol', 'omg', 'tv', 'pm', 'am']);

/** The kind of one word without the punctuation around it; null for an ordinary word. */
export function kindOfToken(word: string, { isOpening }: { readonly isOpening: boolean }): SpecificKind | null {
  if (word.length > MAX_TOKEN) return null;
  if (LINK.test(word)) return 'link';
  if (DATE.test(word)) return 'date';
  if (/\p{Nd}/u.test(word)) return numericKind(word);
  if (PATH.test(word)) return 'path';
  const isName = NAME.test(word) && !NO_NAMES.has(word.toLowerCase().replaceAll('’', "'"));
  return isName && (!isOpening || word.startsWith('@')) ? 'name' : null;
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
