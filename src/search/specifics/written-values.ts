import { withPlainDigits } from '../words/plain-spelling.ts';
import { fold } from '../words/words.ts';
import { calendarWord } from './specific-tokens.ts';
import { CALENDAR, MONTHS } from './specific-words.ts';

/**
 * Times, days, short amounts and codes in one spelling each, whatever a text writes: "15:00" for "3 pm", "--03-04" for
 * "March 4" and "4.3.2026", "4000" for "$4k", "lh1234" for "LH 1234". The indexes contain them.
 */

const DIGIT = /\p{Nd}/u;
const NONE: readonly string[] = [];
/** Bounded, so that every text takes linear time. */
const HALF_DAY = /(?<![\p{L}\p{N}:.,])(\d{1,2})(?:[:.](\d{2}))?[ \u00a0\u202f]?([ap])\.?m(?![\p{L}\p{N}])/giu;
/** Without seconds: a log has thousands of such times. */
const WHOLE_DAY = /(?<![\p{L}\p{N}:.,])(\d{1,2})[:h](\d{2})(?!\d|:\d|[ \u00a0\u202f]?[ap]\.?m(?![\p{L}\p{N}]))/giu;
const YEAR_FIRST = /(?<![\p{L}\p{N}.-])\d{4}([-/.])(\d{1,2})\1(\d{1,2})(?![\d-]|[.]\d)/gu;
const DAY_FIRST = /(?<![\p{L}\p{N}.,])(\d{1,2})\. ?(\d{1,2})\.(?: ?\d{4}|\d{2})?(?!\.?\d)/gu;
const EAST_ASIAN = /(?<!\d)(\d{1,2})[月월] ?(\d{1,2}) ?[日号號일]/gu;
const MONTH_THEN_DAY =
  /(?<![\p{L}\p{M}\p{N}])([\p{L}\p{M}]{3,14})\.? (\d{1,2})(?:st|nd|rd|th)?(?![\p{L}\p{N}]|[.,:]\d)/gu;
/** With a short word between them in some languages: "4 de marzo", "4th of March". */
const DAY_THEN_MONTH =
  /(?<![\p{L}\p{N}.,:])(\d{1,2})(?:\.|st|nd|rd|th|er)? (?:\p{L}{1,2} )?([\p{L}\p{M}]{3,14})(?![\p{L}\p{M}\p{N}])/gu;
const THOUSANDS = /(?<![\p{L}\p{N}.,])(\d{1,4})(?:[.,](\d{1,2}))?k(?![\p{L}\p{N}])/giu;
const SPACED_CODE = /(?<![\p{L}\p{N}])([A-Z]{2,4}) (\d{2,6})(?![\p{L}\p{N}]|[.,:]\d)/gu;
const JOINED_CODE = /(?<![\p{L}\p{N}])[A-Za-z]{1,4}(\d{3,6})(?![\p{L}\p{N}])/gu;

/** Each once, in no particular order. */
export function valuesIn(text: string): readonly string[] {
  if (!DIGIT.test(text)) return NONE;
  const plain = withPlainDigits(text);
  return [...new Set([...timesIn(plain), ...daysIn(plain), ...amountsIn(plain), ...codesIn(plain)])];
}

function timesIn(text: string): readonly string[] {
  const half = matches(text, HALF_DAY).map(([, hour, minute = '0', letter = '']) => {
    const isInHalf = Number(hour) >= 1 && Number(hour) <= 12;
    return isInHalf ? timeOf((Number(hour) % 12) + (letter.toLowerCase() === 'p' ? 12 : 0), Number(minute)) : NONE;
  });
  const whole = matches(text, WHOLE_DAY).map(([, hour, minute]) => timeOf(Number(hour), Number(minute)));
  return [...half, ...whole].flat();
}

function timeOf(hour: number, minute: number): readonly string[] {
  return hour > 23 || minute > 59 ? NONE : [`${twoDigits(hour)}:${twoDigits(minute)}`];
}

function daysIn(text: string): readonly string[] {
  const named = [
    ...matches(text, MONTH_THEN_DAY).map(([, word = '', day]) => dayOf(monthOf(word, CALENDAR.get(fold(word))), day)),
    ...matches(text, DAY_THEN_MONTH).map(([, day, word = '']) => dayOf(monthOf(word, calendarWord(word)), day)),
  ];
  const numbered = [
    ...matches(text, YEAR_FIRST).map(([, , month, day]) => dayOf(Number(month), day)),
    ...matches(text, DAY_FIRST).map(([, day, month]) => dayOf(Number(month), day)),
    ...matches(text, EAST_ASIAN).map(([, month, day]) => dayOf(Number(month), day)),
  ];
  return [...named, ...numbered].flat();
}

/** From 1; 0 for no month. English shortens months to three letters. */
function monthOf(word: string, name: string | null | undefined): number {
  const start = fold(word);
  return (
    MONTHS.findIndex((month) => month === name || (start.length === 3 && start !== 'may' && month.startsWith(start))) +
    1
  );
}

function dayOf(month: number, day = ''): readonly string[] {
  const isDay = month >= 1 && month <= 12 && Number(day) >= 1 && Number(day) <= 31;
  return isDay ? [`--${twoDigits(month)}-${twoDigits(Number(day))}`] : NONE;
}

function amountsIn(text: string): readonly string[] {
  return matches(text, THOUSANDS).map(([, whole, part = '']) => String(Number(`${whole}${part.padEnd(3, '0')}`)));
}

function codesIn(text: string): readonly string[] {
  const spaced = matches(text, SPACED_CODE).map(([, letters = '', digits = '']) => letters.toLowerCase() + digits);
  return [...spaced, ...matches(text, JOINED_CODE).map(([, digits = '']) => digits)];
}

function matches(text: string, pattern: RegExp): readonly RegExpMatchArray[] {
  return [...text.matchAll(pattern)];
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
