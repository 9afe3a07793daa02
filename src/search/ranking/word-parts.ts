import { valuesIn } from '../specifics/written-values.ts';
import { BREAK, isLink, isSeam, kindAt } from '../words/character-kinds.ts';
import { withPlainDigits } from '../words/plain-spelling.ts';
import { fold } from '../words/words.ts';

/**
 * What else people may call the words of a text: the parts of "PaymentRetryHandler", "wifi" for "Wi-Fi", a number
 * without the gaps between its groups, emoji, and values such as times in one spelling. These are found in addition to
 * the words themselves.
 */

/** A longer word is rather a key than a word. */
const MAX_LENGTH = 40;
/** Shorter parts occur anywhere. */
const MIN_LETTERS = 3;
const MAX_LINKS = 2;
/** Dates and ranges. */
const NUMBERS = /^[\d-]*$/;
/** Groups of a number as long as that of a telephone, a card or an account. */
const GROUPED = /(?<![\p{L}\p{N}])\p{Nd}(?:[ ./()-]{0,2}\p{Nd}){6,18}(?![\p{L}\p{N}])/gu;
/** Digits of a telephone number with its area, and how many of them are the same from every country. */
const MIN_WITH_AREA = 9;
const SUBSCRIBER = 8;
/** Amounts with their thousands apart, as in most countries: "4,000", "4.000", "4 000", "4’000", "1,23,456". */
const AMOUNT =
  /(?<![\p{L}\p{N}])\p{Nd}{1,3}(?:[ .,'’٬،\u00a0\u2009\u202f]\p{Nd}{2,3}){0,4}[ .,'’٬،\u00a0\u2009\u202f]\p{Nd}{3}(?![\p{L}\p{N}])/gu;
/** Without skin tones, joiners and the sign that asks for colours. A flag consists of two letters. */
const EMOJI = /\p{RI}{2}|(?![©®™])\p{Extended_Pictographic}/gu;
const NONE: readonly string[] = [];

/** Capitals inside of words, hyphens, numbers of three digits, and all beyond ASCII. Most messages of chats have none. */
const MAY_HAVE_OTHERS = /[A-Za-z][A-Z]|-|\d[ ./()]{0,2}\d[ ./()]{0,2}\d|[^\0-\x7f]/;

/** Folded, in no particular order. */
export function otherTokensOf(text: string): readonly string[] {
  const values = valuesIn(text);
  if (!MAY_HAVE_OTHERS.test(text)) return values;
  const found: string[] = [];
  readParts(text, { isWanted: () => true, part: (part) => found.push(part) });
  return [...found, ...groupedNumbersIn(text), ...emojiIn(text), ...values];
}

export interface PartReader {
  /** Whether the word from `start` to `end` is read, by its beginning. */
  isWanted(text: string, start: number, end: number): boolean;
  part(part: string): void;
}

/** The parts of words, and hyphenated words as one. */
export function readParts(text: string, reader: PartReader): void {
  let before = BREAK;
  let start = 0;
  let isComposed = false;
  const links = createLinks(reader);
  for (let at = 0; at <= text.length; at += 1) {
    const kind = kindAt(text, at);
    if (kind === before) continue;
    if (kind === BREAK) {
      if (isComposed) readComposed(text.slice(start, at), reader);
      links.wordAt(text, start, at);
      isComposed = false;
    } else if (before === BREAK) start = at;
    else isComposed ||= isSeam(text, at) || isSeam(text, at - 1);
    before = kind;
  }
}

/** The parts of one word. */
export function readComposed(word: string, reader: PartReader): void {
  const { length } = word;
  if (length > MAX_LENGTH) return;
  let from = 0;
  for (let at = 1; at <= length; at += 1) {
    if (at < length && !isSeam(word, at)) continue;
    const isTelling = at - from >= MIN_LETTERS && at - from < length && reader.isWanted(word, from, at);
    if (isTelling) reader.part(word.slice(from, at).toLowerCase());
    from = at;
  }
}

/** Joins words with hyphens between them. Takes all words of a text in order. */
export function createLinks({ isWanted, part }: PartReader): {
  wordAt(text: string, start: number, end: number): void;
  /** Whether the last word is linked with the next. */
  isOpen(): boolean;
} {
  let first = 0;
  let links = 0;
  const join = (text: string, end: number) => {
    const isShort = links <= MAX_LINKS && end - first <= MAX_LENGTH;
    if (!isShort || !(isLink(text, first + 1) || isWanted(text, first, end))) return;
    const word = text.slice(first, end);
    if (!NUMBERS.test(word)) part(fold(word.replace(/[-']/g, '')));
  };
  return {
    isOpen: () => links > 0,
    wordAt(text, start, end) {
      if (isLink(text, end)) {
        if (links === 0) first = start;
        links += 1;
      } else if (links > 0) {
        join(text, end);
        links = 0;
      }
    },
  };
}

/** Their digits, and for long ones also the last digits with a star: the country code of a telephone is often left out. */
export function groupedNumbersIn(text: string): readonly string[] {
  const numbers = text.match(GROUPED) ?? NONE;
  const long = numbers.filter((number) => /[^\p{Nd}]/u.test(number));
  const digits = [...long, ...(text.match(AMOUNT) ?? NONE)].map(digitsOf);
  const subscribers = numbers.map(digitsOf).filter(({ length }) => length >= MIN_WITH_AREA);
  return [...new Set([...digits, ...subscribers.map((number) => `*${number.slice(-SUBSCRIBER)}`)])];
}

function digitsOf(number: string): string {
  return withPlainDigits(number).replace(/\D/g, '');
}

export function emojiIn(text: string): readonly string[] {
  return text.match(EMOJI) ?? NONE;
}
