import { withoutControls } from '../../domain/controls.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../time/time.ts';

/** Escape sequences of terminals: control (CSI), string (OSC, DCS and similar), and short ones. */
const CONTROL_SEQUENCE = '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]';
const STRING_SEQUENCE =
  '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u0090\\u0098\\u009c-\\u009f]*(?:\\u0007|\\u001b\\\\|\\u009c)';
const SHORT_SEQUENCE = '\\u001b[ -/]*[0-~]?';
const ESCAPES = new RegExp(`${STRING_SEQUENCE}|${CONTROL_SEQUENCE}|${SHORT_SEQUENCE}`, 'g');

/** Text that can only be read: no escape sequences, no control characters, only whole surrogate pairs. */
export function cleanText(text: string): string {
  return withoutControls(text.toWellFormed().replace(ESCAPES, ''));
}

/** Whether a text contains anything visible, and not only spaces, joiners and fillers. */
export function isVisible(text: string): boolean {
  return /[^\s\p{Default_Ignorable_Code_Point}]/u.test(text);
}

/**
 * A reply in the form that platforms accept: without blank edges, and without long runs of whitespace that could make a
 * message blank.
 */
export function tidyReply(text: string): string {
  return cleanText(text)
    .replace(/\s{100,}/g, (blanks) => (blanks.includes('\n') ? '\n\n' : ' '))
    .trim();
}

const LEAD_LENGTH = 280;

/** The beginning of a text sent as a file: its first paragraph on one line. Empty if it begins with code or a table. */
export function leadOf(text: string): string {
  const [first = ''] = text.split(/\n\s*\n/, 1);
  return /^\s*[`~|]/.test(first) ? '' : excerpt(first, LEAD_LENGTH);
}

/** One line of at most `length` characters, cut between visible characters. */
export function excerpt(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= length) return line;
  return `${cutAt(line, length - 1).trimEnd()}…`;
}

/** The head of a text with at most `length` UTF-16 units, never ending inside an emoji or an accented character. */
export function cutAt(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (const { index, segment } of graphemesOf(text.slice(0, length + 64))) {
    if (index + segment.length > length) break;
    end = index + segment.length;
  }
  // A single character longer than the limit is cut anyway.
  return end === 0 ? text.slice(0, length).toWellFormed() : text.slice(0, end);
}

/** Created on first use, because it loads tables that most starts do not need. */
let graphemes: Intl.Segmenter | null = null;

/** Where characters may form clusters: below the combining marks, only "\r\n" does. */
const CLUSTERS = /\r|[\u0300-\uffff]/;

/** Visible characters (grapheme clusters). */
export function graphemesOf(text: string): Iterable<Pick<Intl.SegmentData, 'segment' | 'index'>> {
  if (!CLUSTERS.test(text)) return singlesOf(text);
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

function* singlesOf(text: string) {
  for (let index = 0; index < text.length; index += 1) yield { segment: text.charAt(index), index };
}

/** Splits a long text into pages of at most `length` characters, at a line or word break if there is one. */
export function paginate(text: string, length: number): readonly string[] {
  const pages: string[] = [];
  let rest = text;
  while (rest.length > length) {
    const head = cutAt(rest, length);
    const breakAt = Math.max(head.lastIndexOf('\n'), head.lastIndexOf(' '));
    const page = breakAt > length / 2 ? head.slice(0, breakAt) : head;
    pages.push(page);
    rest = rest.slice(page.length).replace(/^[ \n]/, '');
  }
  return [...pages, rest];
}

/** `1,200`. */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `1 memory`, `1,200 memories`. */
export function counted(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** `35 %`. */
export function formatPercent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

/** `850 ms`, `3.2 s`, `4 min`, `2 h`, `3 days`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.round(ms / HOUR_MS)} h`;
  return `${Math.round(ms / DAY_MS)} days`;
}

/** `2026-11-20 14:05`, in UTC so that every reader of a conversation sees the same. */
export function formatTime(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? 'unknown' : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
