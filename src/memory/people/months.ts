import { fold, wordsOf } from '../../search/words/words.ts';

/** Languages in which a person may be called like a month. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv'];
/** Before a month, and before no person: "in Ada" is followed by a possessive. */
const BEFORE = new Set(['in', 'im', 'em', 'nel', 'during']);
/** Between a day and its month. */
const BETWEEN = new Set(['of', 'de', 'di']);
const DAY_OR_YEAR = /^(?:\d{1,2}(?:st|nd|rd|th)?|\d{4})$/u;

const months = new Set<string>();

function isMonth(word: string): boolean {
  if (months.size === 0) {
    for (const language of LANGUAGES) {
      const { format } = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
      for (let month = 0; month < 12; month += 1) months.add(fold(format(Date.UTC(2026, month, 15))));
    }
  }
  return months.has(word);
}

/** For one text and many names: whether a name is in it, and means a month wherever it is: "in May", "3 April". */
export function monthsIn(text: string): (name: string) => boolean {
  const words = wordsOf(text);
  const isNumber = (at: number) => DAY_OR_YEAR.test(words[at] ?? '');
  const isDate = (at: number) => {
    const before = words[at - 1] ?? '';
    return BEFORE.has(before) || isNumber(at - 1) || isNumber(at + 1) || (BETWEEN.has(before) && isNumber(at - 2));
  };
  return (name) => {
    const [month = '', ...others] = wordsOf(name);
    if (others.length > 0 || !isMonth(month) || words.includes(`${month}s`) || !words.includes(month)) return false;
    return words.every((word, at) => word !== month || isDate(at));
  };
}
