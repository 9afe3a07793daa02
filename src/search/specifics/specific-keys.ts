import type { SpecificKind } from '../../ports/summary-store.ts';
import { withPlainDigits } from '../words/plain-spelling.ts';
import { fold, wordsOf } from '../words/words.ts';
import { calendarWord } from './specific-tokens.ts';
import { MONTHS } from './specific-words.ts';

const FRACTION = /[¼-¾⅐-⅞]/gu;
const DASHES = /[–—−]/gu;

/** Equal for different spellings of the same specific. */
export function specificKey(kind: SpecificKind, text: string): string {
  // Empty keys would all be equal.
  return keyOf(kind, text) || fold(text);
}

function keyOf(kind: SpecificKind, text: string): string {
  switch (kind) {
    case 'link':
      return text.toLowerCase().replace(/\/$/u, '');
    case 'number':
      return numberKey(text);
    case 'date':
      return dateKey(text);
    case 'code':
    case 'path':
      return wordsOf(withPlainDigits(text)).join('');
    default:
      return wordsOf(text).join(' ');
  }
}

/** "1,200" and "1200" are the same, and so are "1.234,56" and "1,234.56", "7th" and "7". */
function numberKey(text: string): string {
  if (/^\d+$/.test(text)) return text;
  const spelled = text.replace(FRACTION, (one) => ` ${one.normalize('NFKC').replace('\u2044', '/')}`).trim();
  const plain = withPlainDigits(fold(spelled)).replaceAll('٬', ',').replaceAll('٫', '.').replace(DASHES, '-');
  const parts = plain.replace(/(?<=\d) (?=\d+\/)/u, '+').replace(/[^\d.,:/+-]/gu, '');
  return parts
    .replace(/^\+/u, '')
    .split(/([:/+-])/u)
    .map(amountKey)
    .join('');
}

/** A number with a point before decimals, and without separators between thousands. */
function amountKey(digits: string): string {
  if (!/\d/.test(digits)) return digits;
  const separators = digits.replace(/\d/g, '');
  const last = separators.slice(-1);
  const decimals = digits.length - digits.lastIndexOf(last) - 1;
  const isMixed = separators.length > 1 && separators.indexOf(last) === separators.length - 1;
  if (isMixed || (separators.length === 1 && decimals !== 3)) {
    const whole = digits.slice(0, digits.length - decimals - 1).replace(/\D/g, '');
    return decimals > 0 ? `${whole}.${digits.slice(-decimals)}` : whole;
  }
  return /^\d{1,3}([.,])(?:\d{2,3}\1)*\d{3}$/.test(digits) ? digits.replace(/\D/g, '') : digits;
}

/** The parts of a date in any order: "23.11.2026", "2026年11月23日" and "November 23, 2026" are the same. */
function dateKey(text: string): string {
  const parts = withPlainDigits(text)
    .split(/[\s,]+|(?<=\d)[-/.年月日号號년월일]/u)
    .filter((part) => part !== '');
  return parts
    .map((part) => datePart(part, parts.length > 1))
    .sort()
    .join(' ');
}

function datePart(part: string, hasOthers: boolean): string {
  const name = calendarWord(part);
  if (name !== null) return hasOthers && MONTHS.includes(name) ? String(MONTHS.indexOf(name) + 1) : name;
  return /\d/u.test(part) ? fold(part).replace(/(?<=\d)(?![ap]m$)\p{L}+$|\.$|^0+(?=\d)/gu, '') : fold(part);
}
