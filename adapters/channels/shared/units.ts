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
  /** Runs of three or more backticks or tildes with their word. */
  readonly fences: boolean;
  /** `<@1>`, `<#2>`, `<:smile:3>`, `<t:4>`. */
  readonly mentions: boolean;
}

const MAX_LABEL = 500;
const MAX_TARGET = 2000;
const MAX_BOLD = 300;
const MAX_MENTION = 90;

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
      return addressEnd(text, at);
    case '<':
      return rules.mentions ? Math.max(mentionEnd(scan, at), bracketedAddressEnd(text, at)) : at;
    case '*':
      return rules.bold ? boldEnd(scan, at) : at;
    case '`':
    case '~':
      return runEnd(scan, at);
    default:
      return at;
  }
}

/** `[label](target)` */
function linkEnd({ text, next }: Scan, open: number, at: number): number {
  const close = next(']', open + 1);
  if (close - open - 1 > MAX_LABEL || next('\n', open) < close || text.charAt(close + 1) !== '(') return at;
  const end = next(')', close + 2);
  if (end - close - 2 > MAX_TARGET || /\s/.test(text.slice(close + 2, end))) return at;
  return end + 1;
}

const ADDRESS = /https?:\/\/[^\s>)\]]+/y;

function addressEnd(text: string, at: number): number {
  ADDRESS.lastIndex = at;
  return at + (ADDRESS.exec(text)?.[0].length ?? 0);
}

/** `<https://…>` shows no preview on Discord. */
function bracketedAddressEnd(text: string, at: number): number {
  const end = addressEnd(text, at + 1);
  if (end === at + 1) return at;
  return text.charAt(end) === '>' || text.charAt(end) === ')' ? end + 1 : end;
}

function mentionEnd({ text, next }: Scan, at: number): number {
  const close = next('>', at);
  if (close - at > MAX_MENTION) return at;
  return /^<(?:[@#]|a?:\w{1,40}:|t:)[^>\s]{1,40}>$/.test(text.slice(at, close + 1)) ? close + 1 : at;
}

function boldEnd({ text, next }: Scan, at: number): number {
  if (text.charAt(at + 1) !== '*') return at;
  const close = next('*', at + 2);
  const isBold = close > at + 2 && close - at - 2 <= MAX_BOLD && text.charAt(close + 1) === '*';
  return isBold && next('\n', at) > close ? close + 2 : at;
}

/** Inline code, or a fence with its word. */
function runEnd({ text, next, rules }: Scan, at: number): number {
  const run = afterRun(text, at) - at;
  if (run >= 3) return rules.fences ? wordEnd(text, at + run) : at;
  if (text.charAt(at) !== '`') return at;
  const close = next('`'.repeat(run), at + run);
  if (close === Number.POSITIVE_INFINITY || next('\n', at) < close) return at;
  return afterRun(text, close) - close === run ? close + run : at;
}

const WORD = /[^\s`~]*/y;

function wordEnd(text: string, at: number): number {
  WORD.lastIndex = at;
  return at + (WORD.exec(text)?.[0].length ?? 0);
}

/** After the run of backticks or of tildes, or after the one character. */
function afterRun(text: string, at: number): number {
  const mark = text.charAt(at);
  let end = at + 1;
  if (mark !== '`' && mark !== '~') return end;
  while (text.charAt(end) === mark) end += 1;
  return end;
}
