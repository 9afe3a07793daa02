/** Languages whose months are recognised. */
const LANGUAGES = 'en de fr es it pt nl sv da nb fi pl cs hu ro tr ru uk el'.split(' ');

/** `2026-01-13`, `13.01.2026`, `1/13/26`, with or without a time. */
const NUMERIC = '\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2})?|\\d{1,2}[./]\\d{1,2}[./](?:\\d{4}|\\d{2})';
const HAN = '(?:\\d{4}年)?\\d{1,2}月(?:\\d{1,2}[日号])?';
const DAY = '\\d{1,2}(?:st|nd|rd|th|er|º|ª|\\.)?';

let written: RegExp | null = null;

/** The text without its dates. People say "tomorrow", and a model writes which day that is, as it is told to. */
export function withoutDates(text: string): string {
  written ??= datesIn(namesOf('month'), namesOf('weekday'));
  return /\d/u.test(text) ? text.replace(written, ' ') : text;
}

function datesIn(months: readonly string[], weekdays: readonly string[]): RegExp {
  const weekday = `(?:(?:${weekdays.join('|')}),? (?:the |den |dem )?)?`;
  const month = `(?:${months.join('|')})\\.?`;
  const year = ',? (?:de |del )?\\d{4}';
  const dates = [
    `${DAY} ?(?:of |de |di )?${month}(?:${year})?`,
    `${month} ${DAY}(?:${year})?`,
    `${month}${year}`,
    NUMERIC,
  ];
  return new RegExp(`(?<![\\p{L}\\p{N}])${weekday}(?:${dates.join('|')})(?![\\p{L}\\p{N}])|${HAN}`, 'giu');
}

/** Alone and in a date, where some languages inflect them. The longest first, because one may begin another one. */
function namesOf(part: 'month' | 'weekday'): readonly string[] {
  const names = LANGUAGES.flatMap((language) => {
    const alone = new Intl.DateTimeFormat(language, { [part]: 'long', timeZone: 'UTC' });
    const dated = new Intl.DateTimeFormat(language, { [part]: 'long', month: 'long', day: 'numeric', timeZone: 'UTC' });
    // Every month and every day of the week is among these.
    const days = Array.from({ length: 12 }, (_, month) => Date.UTC(2026, month, 15));
    return [...days.map((at) => alone.formatToParts(at)), ...days.map((at) => dated.formatToParts(at))]
      .flat()
      .flatMap(({ type, value }) => (type === part ? [value] : []));
  });
  return [...new Set(names)].filter((name) => /^\p{L}+$/u.test(name)).toSorted((a, b) => b.length - a.length);
}
