import { latin, undecorated } from './lookalikes.ts';
import { plainSpelling } from './plain-spelling.ts';
import { wordsOf } from './words.ts';

/** A text in which to look for words that may be inflected, joined, split, or written with lookalikes. */
export interface Spelling {
  /** Each word after a space. */
  readonly words: string;
  /** The words without anything between them. */
  readonly joined: string;
}

const MIN_CODE = 4;
const MIN_WORD = 5;
/** Shorter words occur by chance where two words meet. */
const MIN_JOINED = 6;
/** The start of a word that its inflections share. */
const ROOT_SHARE = 0.75;
/** Also in scripts that write particles before a word. */
const MIN_PREFIXED = 3;
/** Two characters that only their spelling may hide. */
const HAN = /^\p{sc=Han}{2}$/u;
const PREFIXED = /^[\p{sc=Arabic}\p{sc=Hebrew}]+$/u;

export function spellingOf(text: string): Spelling {
  const words = wordsOf(undecorated(text)).map(plainly);
  return { words: ` ${words.join(' ')}`, joined: words.join('') };
}

/** Latin lookalikes, digits of other scripts and traditional characters in their plain spelling. */
function plainly(word: string): string {
  return latin(plainSpelling(word));
}

/** Finds a folded word in texts, in any spelling. */
export function spelt(word: string): (text: Spelling) => boolean {
  const plain = plainly(undecorated(word));
  const { length } = plain;
  if (/^\d+$/.test(plain)) return ({ joined }) => length >= MIN_CODE && hasNumber(joined, plain);
  if (/\d/.test(plain)) return ({ joined }) => length >= MIN_CODE && joined.includes(plain);
  if (PREFIXED.test(plain)) return ({ words }) => length >= MIN_PREFIXED && words.includes(plain);
  if (HAN.test(plain)) return ({ joined }) => joined.includes(plain);
  if (length < MIN_WORD) return () => false;
  const root = ` ${length < MIN_JOINED ? plain : plain.slice(0, Math.ceil(length * ROOT_SHARE))}`;
  return ({ words, joined }) => words.includes(root) || (length >= MIN_JOINED && joined.includes(plain));
}

/** Digits that are not part of a longer number. */
function hasNumber(text: string, digits: string): boolean {
  for (let at = text.indexOf(digits); at >= 0; at = text.indexOf(digits, at + 1)) {
    if (!isDigit(text, at - 1) && !isDigit(text, at + digits.length)) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  return /^\d$/.test(text.charAt(at));
}
