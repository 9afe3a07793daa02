import type { SpecificKind } from '../../ports/summary-store.ts';
import { specificKey } from './specific-keys.ts';
import { calendarWord, groupLength, isPlainNumber, kindOfToken, THOUSANDS } from './specific-tokens.ts';
import { PROHIBITION, PROMISE } from './specific-words.ts';
import { MAX_AFTER, unitOf } from './units.ts';

/** A stretch of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Specific extends Span {
  readonly kind: SpecificKind;
  /** As written. */
  readonly text: string;
  /** Equal for different spellings of the same thing. */
  readonly key: string;
  /** Of a number; null if it has none that is known. */
  readonly unit: string | null;
}

/** A date in East Asia, or a word. Scripts with attached particles or without spaces separate numbers and Latin words. */
const TOKEN =
  /\p{Nd}{2,4}[年년] ?\p{Nd}{1,2}[月월](?: ?\p{Nd}{1,2} ?[日号號일])?|\p{Nd}{1,2}[月월] ?\p{Nd}{1,2} ?[日号號일]|(?:\p{Nd}|[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}，。！？、；：（）「」『』【】《》])+/gu;
const SENTENCE_MARK = /[.!?\n。！？]/gu;
const MAX_SENTENCE = 240;
const OUTER = new Set(' \t\r\n.,;:!?\'"“”„‘’«»()[]{}<>*_~`…|');
const SENTENCE_END = /[.!?…:\n]["'”’)\]]*$/u;
const MAX_DATE_TOKENS = 4;
/** An account number has at most 34 characters in groups of four. */
const MAX_GROUPS = 9;

/**
 * The numbers, names, links, dates, paths, codes, prohibitions and promises of a text in order. Names are found by
 * their capital letter, so not in scripts without case, and every German noun counts. Code blocks are left out.
 */
export function specificsIn(text: string): readonly Specific[] {
  const said = withoutBlocks(text);
  const found = [...joined(said, tokensIn(said)), ...sentencesIn(said)];
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Blanks code blocks, so that positions stay the same. */
function withoutBlocks(text: string): string {
  if (!text.includes('```')) return text;
  return text
    .split('```')
    .map((part, index) => (index % 2 === 0 ? part : ' '.repeat(part.length)))
    .join('   ');
}

interface Token extends Span {
  readonly word: string;
  readonly kind: SpecificKind | null;
  readonly isCalendar: boolean;
  /** Nothing but spaces and a comma lies between this token and the previous one. */
  readonly follows: boolean;
  /** Only one space, or a bracket and a space, lies between this token and the previous one. */
  readonly isNext: boolean;
}

function tokensIn(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let isOpening = true;
  let last: Token | null = null;
  for (const { 0: raw, index } of text.matchAll(TOKEN)) {
    const { start, end } = trimmed(text, { start: index, end: index + raw.length });
    if (start < end) {
      const word = text.slice(start, end);
      const gap: string = last === null ? '\n' : text.slice(last.end, start);
      const kind = kindOfToken(word, { isOpening });
      const isCalendar = calendarWord(word) !== null;
      last = { word, start, end, follows: isGap(gap), isNext: NEXT.test(gap), kind, isCalendar };
      tokens.push(last);
    }
    const after = text.charAt(index + raw.length);
    isOpening = SENTENCE_END.test(raw.slice(-8)) || after === '\n';
  }
  return tokens;
}

function trimmed(text: string, { start, end }: Span): Span {
  let [from, to] = [start, end];
  while (from < to && OUTER.has(text.charAt(from))) from += 1;
  while (to > from && OUTER.has(text.charAt(to - 1))) to -= 1;
  return { start: from, end: to };
}

const NEXT = /^\)?[ \u00a0\u2009\u202f]$/u;

function isGap(between: string): boolean {
  return between.length <= 3 && /^[.,]? *$/u.test(between);
}

/** Tokens as specifics; parts of one date or of one name are joined. */
function joined(text: string, tokens: readonly Token[]): readonly Specific[] {
  const found: Specific[] = [];
  for (let at = 0; at < tokens.length; ) {
    const run = runAt(tokens, at);
    const [first, last] = [tokens[at], tokens[at + run.length - 1]];
    if (first !== undefined && last !== undefined && run.kind !== null) {
      const span = { start: first.start, end: last.end };
      const said = text.slice(span.start, span.end);
      const unit = run.kind === 'number' ? unitOf(said, text.slice(span.end, span.end + MAX_AFTER)) : null;
      found.push({ ...span, kind: run.kind, text: said, key: specificKey(run.kind, said), unit });
    }
    at += run.length;
  }
  return found;
}

function runAt(tokens: readonly Token[], at: number): { readonly kind: SpecificKind | null; readonly length: number } {
  const dated = dateAt(tokens, at);
  if (dated > 0) return { kind: 'date', length: dated };
  const kind = tokens[at]?.kind ?? null;
  if (kind === 'number' || kind === 'code') return numberAt(tokens, at, kind);
  if (kind !== 'name') return { kind, length: 1 };
  let length = 1;
  while (isSameName(tokens[at + length], tokens[at + length - 1]) && dateAt(tokens, at + length) === 0) length += 1;
  return { kind, length };
}

/** A number, or several groups that form one. */
function numberAt(tokens: readonly Token[], at: number, kind: SpecificKind) {
  const next = tokens[at + 1];
  if (next?.isNext !== true || next.word.length < 2) return { kind, length: 1 } as const;
  const following = tokens.slice(at + 1, at + MAX_GROUPS);
  const end = following.findIndex(({ isNext }) => !isNext);
  const near = end < 0 ? following : following.slice(0, end);
  const length = groupLength([tokens[at]?.word ?? '', ...near.map(({ word }) => word)]);
  const isThousands = length > 1 && near.slice(0, length - 1).every(({ word }) => THOUSANDS.test(word));
  return { kind: length === 1 || isThousands ? kind : 'code', length } as const;
}

function isSameName(next: Token | undefined, before: Token | undefined): boolean {
  return next?.kind === 'name' && next.follows && next.start - (before?.end ?? 0) === 1;
}

/** How many tokens from here on are one date: "7 May 2023", "Friday", "May 7, 2023". */
function dateAt(tokens: readonly Token[], at: number): number {
  let length = 0;
  let isNamed = false;
  while (length < MAX_DATE_TOKENS) {
    const token = tokens[at + length];
    if (token === undefined || (length > 0 && !token.follows)) break;
    if (!token.isCalendar && !isPlainNumber(token.word)) break;
    isNamed ||= token.isCalendar;
    length += 1;
  }
  return isNamed ? length : 0;
}

function sentencesIn(text: string): readonly Specific[] {
  const found: Specific[] = [];
  for (const span of sentenceSpans(text)) {
    const { start, end } = trimmed(text, span);
    const said = text.slice(start, Math.min(end, start + MAX_SENTENCE)).trim();
    const kind = PROHIBITION.test(said) ? 'prohibition' : PROMISE.test(said) ? 'promise' : null;
    if (kind === null) continue;
    found.push({ kind, start, end: start + said.length, text: said, key: specificKey(kind, said), unit: null });
  }
  return found;
}

/** A mark followed by a letter or digit ends no sentence, except in scripts without spaces. */
function sentenceSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const { 0: mark, index: end } of text.matchAll(SENTENCE_MARK)) {
    if (mark === '.' && /[\p{L}\p{N}]/u.test(text.charAt(end + 1))) continue;
    spans.push({ start, end });
    start = end + 1;
  }
  return [...spans, { start, end: text.length }];
}
