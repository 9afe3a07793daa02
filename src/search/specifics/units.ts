import { fold } from '../words/words.ts';

/** Without abbreviations of several things, such as "m", and words with other meanings, such as "in". */
const UNITS: ReadonlyMap<string, string> = new Map(
  'mm cm km ft mi/mile/miles mg g kg oz lb/lbs ml l ms s/sec/secs min/mins h/hr/hrs am pm kb mb gb tb kw kwh $/usd €/eur £/gbp ¥/jpy ₽/rub ₹/inr %/٪ ‰ °'
    .split(' ')
    .map((unit) => unit.split('/'))
    .flatMap((spellings) => spellings.map((spelling) => [spelling, spellings[0] ?? ''])),
);
/** Of the text after a number: a space, the longest unit, and the character that ends it. */
export const MAX_AFTER = 7;

/** The unit of a number as written, in it or after it; null if there is none that is known. */
export function unitOf(number: string, after: string): string | null {
  const marks = number.match(/\p{L}+|[%‰٪°€$£¥₽₹]/gu);
  const next = /^[ \u00a0\u2009\u202f]?(\p{L}+|[%‰٪€$£¥₽₹])(?![\p{L}\p{N}])/u.exec(after)?.[1];
  return UNITS.get(fold(marks?.at(-1) ?? next ?? '')) ?? null;
}
