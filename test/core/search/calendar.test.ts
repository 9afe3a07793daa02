import { expect, it } from 'vitest';
import { CALENDAR } from '../../../src/search/specifics/specific-words.ts';

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ru', 'uk', 'tr', 'sv'];
const MONTHS = Array.from({ length: 12 }, (_, index) => Date.UTC(2024, index, 15));
const WEEKDAYS = Array.from({ length: 7 }, (_, index) => Date.UTC(2024, 0, 1 + index));

/** As the system writes it on its own, and next to a day. */
function namesOf(at: number, field: 'month' | 'weekday', language: string): readonly string[] {
  const options = { [field]: 'long', timeZone: 'UTC' } as const;
  const beside = new Intl.DateTimeFormat(language, { ...options, day: 'numeric' }).formatToParts(at);
  const inflected = beside.find(({ type }) => type === field)?.value ?? '';
  return [new Intl.DateTimeFormat(language, options).format(at), inflected].map((name) => name.toLowerCase());
}

it.each(LANGUAGES)('knows the months and weekdays of %s', (language) => {
  const dates = [
    ...MONTHS.map((at) => ({ at, field: 'month' }) as const),
    ...WEEKDAYS.map((at) => ({ at, field: 'weekday' }) as const),
  ];
  for (const { at, field } of dates) {
    const [english] = namesOf(at, field, 'en');
    const words = namesOf(at, field, language).filter((name) => name !== '' && !name.includes(' '));
    for (const word of words) expect([word, CALENDAR.get(word)]).toEqual([word, english]);
  }
});
