import { createRecentMap } from '../recent-map.ts';
import { MINUTE_MS } from './time.ts';

/** The zone of labels and dates unless an agent sets another one. */
export const UTC = 'UTC';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** What a clock and a calendar show in one time zone. */
export interface LocalTime {
  /** `2026-11-20` */
  readonly date: string;
  /** `Friday` */
  readonly weekday: string;
  /** `10:00` */
  readonly time: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes of each zone. A view shows the same times with every turn. */
const KEPT_MINUTES = 500;
const kept = new Map<string, Map<number, LocalTime>>();
/** Until 1972, the minutes of some zones began at other seconds than those of UTC. */
const WHOLE_MINUTES_FROM = Date.UTC(1973, 0) / MINUTE_MS;

/** Null for a number that is no time. Throws a `RangeError` if there is no such zone. */
export function localTime(at: number, timeZone: string): LocalTime | null {
  const instant = new Date(at);
  const minute = Math.floor(instant.getTime() / MINUTE_MS);
  if (Number.isNaN(minute)) return null;
  const ofZone = kept.get(timeZone) ?? createRecentMap<number, LocalTime>(KEPT_MINUTES);
  const known = ofZone.get(minute);
  if (known !== undefined) return known;
  const made = timeZone === UTC ? inUtc(instant) : inZone(instant, timeZone);
  if (minute >= WHOLE_MINUTES_FROM) kept.set(timeZone, ofZone.set(minute, made));
  return made;
}

/** `2026-11-20`, or nothing for a number that is not a time. */
export function localDate(at: number, timeZone: string): string {
  return localTime(at, timeZone)?.date ?? '';
}

export function isTimeZone(name: string): boolean {
  // The first format of a process costs some megabytes.
  if (name === UTC) return true;
  try {
    formatFor(name);
    return true;
  } catch {
    return false;
  }
}

/** Much faster than a format. */
function inUtc(instant: Date): LocalTime {
  const iso = instant.toISOString();
  const at = iso.indexOf('T');
  return { date: iso.slice(0, at), weekday: WEEKDAYS[instant.getUTCDay()] ?? '', time: iso.slice(at + 1, at + 6) };
}

function inZone(instant: Date, timeZone: string): LocalTime {
  const parts = formatFor(timeZone).formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
  return {
    date: `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`,
    weekday: part('weekday'),
    time: `${part('hour')}:${part('minute')}`,
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en', { ...digits, weekday: 'long', hourCycle: 'h23', timeZone });
  formats.set(timeZone, format);
  return format;
}
