import { HOUR_MS, MINUTE_MS } from '../../../../src/adapter-kit.ts';
import { waits } from './phrases.ts';

type Headers = Readonly<Record<string, unknown>>;

/** How long a provider asks to wait: in `retry-after`, in the headers of a limit that is used up, or in the body. */
export function retryAfterMs({ headers, text }: { headers: Headers; text: string }, now: number): number | null {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const header = headers['retry-after'];
  const asked = typeof header === 'string' && header !== '' ? fromHeader(header, now) : null;
  return asked ?? waitIn(text) ?? resetIn(headers, now);
}

function fromHeader(header: string, now: number): number | null {
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  return dateMs(header, now);
}

function dateMs(text: string, now: number): number | null {
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function waitIn(text: string): number | null {
  for (const wait of waits) {
    const found = durationMs(wait.exec(text)?.[1] ?? '');
    if (found !== null) return found;
  }
  return null;
}

/** The parts of names before and after the word for what is left, or when there is more. */
const LIMITS = [
  ['x-ratelimit-', '-requests'],
  ['x-ratelimit-', '-tokens'],
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((counted) => [`anthropic-ratelimit-${counted}-`, '']),
];

/** The last of the limits that are used up. */
function resetIn(headers: Headers, now: number): number | null {
  const usedUp = LIMITS.filter(([start, end]) => Number(headers[`${start}remaining${end}`] ?? Number.NaN) === 0);
  const names = [...usedUp.map(([start, end]) => `${start}reset${end}`), 'x-ratelimit-reset'];
  const found = names.flatMap((name) => {
    const value = headers[name];
    const ms = typeof value === 'string' ? (durationMs(value) ?? momentMs(value, now) ?? dateMs(value, now)) : null;
    return ms === null ? [] : [ms];
  });
  return found.length === 0 ? null : Math.max(...found);
}

const PART = /(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli|h|m|s)/gi;
const UNIT_MS = new Map(Object.entries({ ms: 1, milli: 1, h: HOUR_MS, m: MINUTE_MS, s: 1000 }));

function durationMs(text: string): number | null {
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0) return null;
  const sum = parts.reduce(
    (ms, [, amount, unit = '']) => ms + Number(amount) * (UNIT_MS.get(unit.toLowerCase()) ?? 0),
    0,
  );
  return Math.ceil(sum);
}

/** Numbers from here on are moments, in seconds or milliseconds; smaller ones are durations in seconds. */
const MIN_MOMENT_SECONDS = 1_000_000_000;
const MIN_MOMENT_MS = MIN_MOMENT_SECONDS * 1000;

function momentMs(text: string, now: number): number | null {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) return null;
  if (number < MIN_MOMENT_SECONDS) return Math.max(0, number * 1000);
  return Math.max(0, (number < MIN_MOMENT_MS ? number * 1000 : number) - now);
}
