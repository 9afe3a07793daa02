import { latin } from '../search/lookalikes.ts';
import { wordsOf } from '../search/words.ts';

/** A text as words are looked for in it that may be inflected, joined, parted, or written with lookalikes. */
export interface Spelling {
  /** Each word behind a space. */
  readonly words: string;
  /** The words without anything between them. */
  readonly joined: string;
}

const MIN_CODE = 4;
const MIN_WORD = 5;
/** Shorter words occur by chance where other words meet. */
const MIN_JOINED = 6;
/** As much of a word as its inflections share. */
const ROOT_SHARE = 0.75;
/** In scripts that write particles before a word, too. */
const MIN_PREFIXED = 3;
const PREFIXED = /^[\p{sc=Arabic}\p{sc=Hebrew}]+$/u;

export function spellingOf(text: string): Spelling {
  const words = wordsOf(text).map(latin);
  return { words: ` ${words.join(' ')}`, joined: words.join('') };
}

/** Whether a folded word stands in the text in some spelling. */
export function isSpeltIn(word: string, { words, joined }: Spelling): boolean {
  const plain = latin(word);
  if (/^\d+$/.test(plain)) return plain.length >= MIN_CODE && hasNumber(joined, plain);
  if (/\d/.test(plain)) return plain.length >= MIN_CODE && joined.includes(plain);
  if (PREFIXED.test(plain)) return plain.length >= MIN_PREFIXED && words.includes(plain);
  if (plain.length < MIN_WORD) return false;
  const root = plain.length < MIN_JOINED ? plain : plain.slice(0, Math.ceil(plain.length * ROOT_SHARE));
  return words.includes(` ${root}`) || (plain.length >= MIN_JOINED && joined.includes(plain));
}

/** Digits that are no part of a longer number. */
function hasNumber(text: string, digits: string): boolean {
  for (let at = text.indexOf(digits); at >= 0; at = text.indexOf(digits, at + 1)) {
    if (!isDigit(text, at - 1) && !isDigit(text, at + digits.length)) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  return /^\d$/.test(text.charAt(at));
}

/** Numbers that are written in groups, each as one: "4111 1111 2222" is "411111112222". */
export function groupedNumbersIn(text: string): readonly string[] {
  const found: string[] = [];
  let group: string[] = [];
  for (const word of [...wordsOf(text), '']) {
    if (/^\d+$/.test(word)) group.push(word);
    else {
      if (group.length > 1) found.push(group.join(''));
      group = [];
    }
  }
  return found.filter((number) => number.length >= MIN_CODE);
}
