import { DAY_MS } from '../../../../src/adapter-kit.ts';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Adds the date to words that depend on the day they were said: "tomorrow" becomes "on 2026-11-21". */
export function withDates(text: string, saidOn: string | null): string {
  const date = saidOn === null ? null : /\d{4}-\d{2}-\d{2}/.exec(saidOn);
  const day = date === null ? Number.NaN : Date.parse(`${date[0]}T00:00:00Z`);
  if (Number.isNaN(day)) return text;
  return text
    .replace(/\bthe day after tomorrow\b/gi, () => onDate(day, 2))
    .replace(/\btomorrow\b/gi, () => onDate(day, 1))
    .replace(/\b(?:today|tonight)\b/gi, () => onDate(day, 0))
    .replace(/\byesterday\b/gi, () => onDate(day, -1))
    .replace(/(?<!\p{L})übermorgen\b/giu, (found) => amDate(found, day, 2))
    .replace(/(?<!\bguten |\p{L})morgen\b(?! früh)/giu, (found) => amDate(found, day, 1))
    .replace(/\bheute\b/gi, (found) => amDate(found, day, 0))
    .replace(/\bgestern\b/gi, (found) => amDate(found, day, -1))
    .replace(/明天/gu, () => isoDate(day, 1))
    .replace(/今天/gu, () => isoDate(day, 0))
    .replace(
      /\b(?:(next|this|on|last) )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b(?!s)/gi,
      (found, which, name) => {
        const ahead = (WEEKDAYS.indexOf(String(name).toLowerCase()) - new Date(day).getUTCDay() + 7) % 7 || 7;
        const isPast = String(which).toLowerCase() === 'last';
        return `${found} (${isoDate(day, isPast ? (ahead % 7) - 7 : ahead)})`;
      },
    );
}

function onDate(day: number, distance: number): string {
  return `on ${isoDate(day, distance)}`;
}

/** In German, also at the beginning of a sentence. */
function amDate(found: string, day: number, distance: number): string {
  return `${/^\p{Lu}/u.test(found) ? 'Am' : 'am'} ${isoDate(day, distance)}`;
}

function isoDate(day: number, distance: number): string {
  return new Date(day + distance * DAY_MS).toISOString().slice(0, 10);
}

const months =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const dateWords = new RegExp(
  `\\b\\d{4}-\\d{2}-\\d{2}\\b|\\b\\d{1,2}(?:st|nd|rd|th)?\\.? (?:of )?(?:${months})\\b|\\b(?:${months})\\.? \\d{1,2}\\b|\\b\\d{1,2}\\.\\d{1,2}\\.(?:\\d{2,4})?|\\b(?:${WEEKDAYS.join('|')}|tomorrow|tonight|next (?:week|month|year|spring|summer|autumn|winter)|this (?:weekend|evening|afternoon))\\b|\\b\\d{1,2}(?::\\d{2})? ?(?:am|pm|o'clock)\\b|\\d{1,2}月\\d{1,2}[日号]|明天|下周`,
  'iu',
);

export function namesDate(text: string): boolean {
  return dateWords.test(text);
}

export function namesPastDate(text: string): boolean {
  return /\b(?:yesterday|last (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|\w+day)|(?:days?|weeks?|months?|years?) ago|(?:19|20)\d\d|this morning|today)\b/i.test(
    text,
  );
}
