import { createFinder, type Finder } from '../../../src/adapter-kit.ts';

/** A part of a text that no cut should split. Positions are UTF-16 indices; parts do not overlap. */
export interface Unit {
  readonly start: number;
  readonly end: number;
}

/** What counts as one unit, besides links and addresses. */
export interface UnitRules {
  /** `**bold**` on one line. */
  readonly bold: boolean;
  /** `<@1>`, `<#2>`, `<:smile:3>`, `<t:4>`, and `<https://…>`, which shows no preview on Discord. */
  readonly mentions: boolean;
}

const MAX_LABEL = 500;
const MAX_TARGET = 2000;
const MAX_BOLD = 300;

interface Scan {
  readonly text: string;
  readonly next: Finder;
  readonly rules: UnitRules;
}

/** Units from left to right, in linear time. */
export function unitsOf(text: string, rules: UnitRules): readonly Unit[] {
  const scan: Scan = { text, next: createFinder(text), rules };
  const units: Unit[] = [];
  for (let at = 0; at < text.length; ) {
    const end = endAt(scan, at);
    if (end > at) units.push({ start: at, end });
    at = end > at ? end : afterRun(text, at);
  }
  return units;
}

/** For each position between two characters, whether it is inside one of the ranges. */
export function insideOf(length: number, ranges: Iterable<Unit>): (at: number) => boolean {
  const inside = new Uint8Array(length + 1);
  for (const { start, end } of ranges) inside.fill(1, start + 1, Math.max(start + 1, end));
  return (at) => inside[at] === 1;
}

/** The end of the unit that begins at `at`, or `at` if none does. */
function endAt(scan: Scan, at: number): number {
  const { text, rules } = scan;
  switch (text.charAt(at)) {
    case '!':
      return text.charAt(at + 1) === '[' ? linkEnd(scan, at + 1, at) : at;
    case '[':
      return linkEnd(scan, at, at);
    case 'h':
      return endOf(ADDRESS, text, at);
    case '<':
      return rules.mentions ? endOf(MENTION, text, at) : at;
    case '*':
      return rules.bold ? boldEnd(scan, at) : at;
    case '`':
      return codeEnd(scan, at);
    default:
      return at;
  }
}

/** `[label](target)` */
function linkEnd({ text, next }: Scan, open: number, at: number): number {
  const close = next(']', open + 1);
  if (close - open - 1 > MAX_LABEL || text.charAt(close + 1) !== '(') return at;
  const end = next(')', close + 2);
  if (end - close - 2 > MAX_TARGET || /\s/.test(text.slice(close + 2, end))) return at;
  return end + 1;
}

const ADDRESS = /https?:\/\/[^\s>)\]]+/y;
const MENTION = /<(?:(?:[@#]|a?:\w{1,40}:|t:)[^>\s]{1,40}|https?:\/\/[^<>\s]{1,2000})>/y;

/** The end of a match that begins at `at`. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function boldEnd({ text, next }: Scan, at: number): number {
  if (text.charAt(at + 1) !== '*') return at;
  const close = next('*', at + 2);
  const isBold = close > at + 2 && close - at - 2 <= MAX_BOLD && text.charAt(close + 1) === '*';
  return isBold && next('\n', at) > close ? close + 2 : at;
}

/** Inline code between one or two backticks. */
function codeEnd({ text, next }: Scan, at: number): number {
  const run = afterRun(text, at) - at;
  if (run > 2) return at;
  const close = next('`'.repeat(run), at + run);
  if (close === Number.POSITIVE_INFINITY || next('\n', at) < close) return at;
  return afterRun(text, close) - close === run ? close + run : at;
}

/** After the run of backticks, or after the one character. */
function afterRun(text: string, at: number): number {
  let end = at + 1;
  if (text.charAt(at) !== '`') return end;
  while (text.charAt(end) === '`') end += 1;
  return end;
}
