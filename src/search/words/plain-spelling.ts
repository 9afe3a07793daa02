import { normalForm } from '../../util/text/normal-form.ts';
import { simplified } from './han-spelling.ts';

/**
 * One spelling for all the ways in which people write the same word: with or without accents and vowel signs, with
 * letters of a neighbouring keyboard, with the digits of their own script, in traditional or simplified characters.
 */

const ASCII = /^[ -~]*$/;
/** Letters that are plain themselves, of alphabets in which each word has many forms to compare. */
const PLAIN = /^[ -~\u0430-\u0438\u043a-\u044f\u03b1-\u03c1\u03c3-\u03c9\u0561-\u0586\u10d0-\u10fa]*$/;
const HAN = /^\p{sc=Han}*$/u;
const HANGUL = /^[\uac00-\ud7a3]*$/;
/** Accents, Hebrew and Arabic vowel signs, the Arabic filler, and the dot below Indic letters. Other marks are vowels. */
const MARKS =
  /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc]/gu;
/** Indic nasals before another consonant. Many people write them as a dot above, or as a half moon with a dot. */
const NASALS =
  /[\u0919\u091e\u0923\u0928\u092e]\u094d(?=[\u0915-\u0939])|[\u0999\u099e\u09a3\u09a8\u09ae]\u09cd(?=[\u0995-\u09b9])|[\u0901\u0981]/gu;
/** Letters that Unicode does not decompose, final forms, and letters of other keyboards. */
const LETTERS = new Map(
  'łl øo đd ħh ŧt ıi ςσ ךכ םמ ןנ ףפ ץצ ىي یي ېي کك ةه ھه ہه ەه'
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);
const OTHER_DIGITS = /(?![0-9])\p{Nd}/gu;
const DIFFERENT = new RegExp(`[${[...LETTERS.keys()].join('')}]|${OTHER_DIGITS.source}`, 'gu');

/** The plain spelling of a folded word. Stored indexes depend on it. */
export function plainSpelling(word: string): string {
  if (PLAIN.test(word) || HANGUL.test(word)) return word;
  if (HAN.test(word)) return simplified(word);
  return normalForm(simplified(word), 'NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(NASALS, (nasal) => (nasal.charCodeAt(0) < 0x980 ? '\u0902' : '\u0982'))
    .replace(DIFFERENT, (letter) => LETTERS.get(letter) ?? String(digitValue(letter)));
}

/** What the plain spelling of a Latin word leaves out. */
export function marksOf(word: string): string {
  return ASCII.test(word) ? '' : (normalForm(word, 'NFD').match(/[\u0300-\u036f]|[đøł]/gu) ?? []).join('');
}

/** A text with the digits of all scripts replaced by 0 to 9. */
export function withPlainDigits(text: string): string {
  return ASCII.test(text) ? text : text.replace(OTHER_DIGITS, (digit) => String(digitValue(digit)));
}

/** Each script has its ten digits in a row. Some rows are adjacent. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (isDigit(code - before - 1)) before += 1;
  return before % 10;
}

function isDigit(code: number): boolean {
  return /\p{Nd}/u.test(String.fromCodePoint(Math.max(0, code)));
}
