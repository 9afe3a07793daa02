import { escapeControls } from '../domain/controls.ts';
import { QUOTATION_MARKS, quotationsIn } from '../util/text/scan.ts';

/** Shorter runs are ordinary words that two texts share by chance. */
const RUN = 12;
const MIN_QUOTED = 4;
const MAX_QUOTATIONS = 20;
const MARK = '…';
const QUOTES = new Map([...QUOTATION_MARKS, ["'", "'"], ['`', '`']]);

/** As in JSON within JSON, and as Python shows letters and bytes. */
const ESCAPED_UNIT = /\\{1,4}u([0-9a-f]{4})/gi;
const ESCAPED_BYTES = /(?:\\{1,4}x[0-9a-f]{2})+/gi;

/**
 * A line without what it repeats from the texts: runs of at least twelve characters, and quoted words, also if a server
 * has escaped their letters. Linear in the length of the texts.
 */
export function withoutEchoes(given: string, texts: readonly string[]): string {
  const line = unescaped(given);
  const spaced = texts.map((text) => text.replace(/\s+/gu, ' '));
  const isEcho = new Uint8Array(line.length);
  for (const { start, end, text } of quotationsIn(line, QUOTES).slice(0, MAX_QUOTATIONS)) {
    if (text.length >= MIN_QUOTED && spaced.some((one) => one.includes(text))) isEcho.fill(1, start + 1, end - 1);
  }
  const runs = runsOf(line);
  for (const text of spaced) markRuns(text, runs, isEcho);
  // An escape that repeats nothing may be what the server complains about.
  return isEcho.includes(1) ? withMarks(line, isEcho) : given;
}

function unescaped(line: string): string {
  return line
    .replace(ESCAPED_UNIT, (_, unit: string) => shown(String.fromCharCode(Number.parseInt(unit, 16))))
    .replace(ESCAPED_BYTES, (bytes) => shown(Buffer.from(bytes.replace(/[\\x]/gi, ''), 'hex').toString()))
    .toWellFormed();
}

/** As a part of one line. Control characters remain escapes. */
function shown(text: string): string {
  return escapeControls(text.replace(/\s/gu, ' '));
}

interface Runs {
  /** Where each run of the line starts. */
  readonly starts: ReadonlyMap<string, readonly number[]>;
  /** The first two characters of the runs, which rule out most positions of a text. */
  readonly heads: ReadonlySet<number>;
}

function runsOf(line: string): Runs {
  const starts = new Map<string, number[]>();
  for (let at = 0; at + RUN <= line.length; at += 1) {
    const run = line.slice(at, at + RUN);
    starts.set(run, [...(starts.get(run) ?? []), at].slice(-RUN));
  }
  return { starts, heads: new Set([...starts.keys()].map((run) => headAt(run, 0))) };
}

function headAt(text: string, at: number): number {
  return text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
}

function markRuns(text: string, { starts, heads }: Runs, isEcho: Uint8Array): void {
  for (let at = 0; at + RUN <= text.length; at += 1) {
    if (!heads.has(headAt(text, at))) continue;
    for (const start of starts.get(text.slice(at, at + RUN)) ?? []) isEcho.fill(1, start, start + RUN);
  }
}

function withMarks(line: string, isEcho: Uint8Array): string {
  let kept = '';
  for (let at = 0; at < line.length; at += 1) {
    if (isEcho[at] !== 1) kept += line.charAt(at);
    else if (isEcho[at - 1] !== 1) kept += MARK;
  }
  return kept;
}
