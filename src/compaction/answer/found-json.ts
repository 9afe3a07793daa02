import { looseJson } from './loose-json.ts';

/** The objects and lists of JSON in a text, in their order. */
export interface FoundJson {
  readonly values: readonly unknown[];
  /** How much of the text they take, from here on. */
  readonly characters: number;
  readonly start: number;
}

interface Found {
  readonly value: unknown;
  readonly start: number;
  readonly characters: number;
}

/** From an opening to its closing bracket. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly inner: readonly Span[];
}

interface Opened {
  readonly start: number;
  readonly close: string;
  readonly inner: Span[];
}

/** Where to end a text that is cut off, so that all its members are complete, and the brackets that close it. */
interface Cut {
  readonly end: number;
  readonly closing: string;
}

/** How many levels of an unreadable value are searched for readable ones. */
const MAX_DESCENT = 3;

/**
 * Finds values in any text. Of a value that is cut off, it takes the complete members, and never a part of a string.
 */
export function jsonIn(text: string): FoundJson {
  const { spans, opened, cut } = scan(text);
  const unclosed = opened.flatMap(({ inner }) => inner);
  const found = [...read(text, spans), ...(brokenOff(text, opened[0], cut) ?? read(text, unclosed))];
  return {
    values: found.map(({ value }) => value),
    characters: found.reduce((sum, { characters }) => sum + characters, 0),
    start: found[0]?.start ?? 0,
  };
}

/** Brackets in prose are followed by something else. */
const BEGINNING = /^(?:\{\s{0,99}["}]|\[\s{0,99}["{[\]])/u;

function read(text: string, spans: readonly Span[], levels = MAX_DESCENT): readonly Found[] {
  return spans.flatMap(({ start, end, inner }) => {
    const json = text.slice(start, end);
    const value = BEGINNING.test(json) ? looseJson(json) : undefined;
    if (value !== undefined) return [{ value, start, characters: end - start }];
    return levels === 0 ? [] : read(text, inner, levels - 1);
  });
}

function brokenOff(text: string, outer: Opened | undefined, cut: Cut | null): readonly Found[] | null {
  if (outer === undefined || cut === null || cut.end < outer.start) return null;
  const value = looseJson(text.slice(outer.start, cut.end) + cut.closing);
  return value === undefined ? null : [{ value, start: outer.start, characters: text.length - outer.start }];
}

const TOKEN = /["{}[\],]|\\./gsu;
/** Deeper values are not read. */
const MAX_LEVELS = 128;

interface Scan {
  readonly spans: Span[];
  /** The brackets that are still open at the end of the text, outermost first. */
  readonly opened: Opened[];
  cut: Cut | null;
}

/** Reads each character once. */
function scan(text: string): Scan {
  const state: Scan = { spans: [], opened: [], cut: null };
  let isQuoted = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '"') isQuoted = !isQuoted && state.opened.length > 0;
    else if (!isQuoted) take(state, token, index);
    if (state.opened.length > MAX_LEVELS) return { ...state, opened: [] };
  }
  return state;
}

function take(state: Scan, token: string, at: number): void {
  const { spans, opened } = state;
  const top = opened.at(-1);
  if (token === '{' || token === '[') opened.push({ start: at, close: token === '{' ? '}' : ']', inner: [] });
  else if (token === ',') state.cut = cutAt(opened, at) ?? state.cut;
  else if (top !== undefined && token === top.close) {
    opened.pop();
    (opened.at(-1)?.inner ?? spans).push({ start: top.start, end: at + 1, inner: top.inner });
    state.cut = cutAt(opened, at + 1) ?? state.cut;
  }
}

/** Where the text can be cut here; null inside a member that is only useful as a whole, which is any but a list. */
function cutAt(opened: readonly Opened[], end: number): Cut | null {
  const [outer, member] = opened;
  if (outer === undefined || opened.length > 2) return null;
  if (member === undefined) return { end, closing: outer.close };
  return member.close === ']' ? { end, closing: `]${outer.close}` } : null;
}
