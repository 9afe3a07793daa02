import type { SpecificKind } from '../ports/summary-store.ts';
import { calendarWord, isPlainNumber, kindOfToken } from './specific-tokens.ts';
import { PROHIBITION, PROMISE } from './specific-words.ts';
import { fold, wordsOf } from './words.ts';

/** A stretch of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Specific extends Span {
  readonly kind: SpecificKind;
  /** As written. */
  readonly text: string;
  /** The same for different spellings of one thing. */
  readonly key: string;
}

/** Scripts without spaces separate numbers and Latin words from their own. */
const TOKEN = /[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}，。！？、；：（）「」『』【】《》]+/gu;
const SENTENCE_MARK = /[.!?\n。！？]/gu;
const MAX_SENTENCE = 240;
const OUTER = new Set(' \t\r\n.,;:!?\'"“”„‘’«»()[]{}<>*_~`…|');
const SENTENCE_END = /[.!?…:\n]["'”’)\]]*$/u;
const MAX_DATE_TOKENS = 4;

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
}

function tokensIn(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let isOpening = true;
  let last: Token | null = null;
  for (const { 0: raw, index } of text.matchAll(TOKEN)) {
    const { start, end } = trimmed(text, { start: index, end: index + raw.length });
    if (start < end) {
      const word = text.slice(start, end);
      const follows: boolean = last !== null && isGap(text.slice(last.end, start));
      const kind = kindOfToken(word, { isOpening });
      last = { word, start, end, follows, kind, isCalendar: calendarWord(word) !== null };
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
      found.push({ ...span, kind: run.kind, text: said, key: keyOf(run.kind, said) });
    }
    at += run.length;
  }
  return found;
}

function runAt(tokens: readonly Token[], at: number): { readonly kind: SpecificKind | null; readonly length: number } {
  const dated = dateAt(tokens, at);
  if (dated > 0) return { kind: 'date', length: dated };
  const kind = tokens[at]?.kind ?? null;
  if (kind !== 'name') return { kind, length: 1 };
  let length = 1;
  while (isSameName(tokens[at + length], tokens[at + length - 1]) && dateAt(tokens, at + length) === 0) length += 1;
  return { kind, length };
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
    if (kind !== null) found.push({ kind, start, end: start + said.length, text: said, key: keyOf(kind, said) });
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

function keyOf(kind: SpecificKind, text: string): string {
  switch (kind) {
    case 'link':
      return text.toLowerCase().replace(/\/$/u, '');
    case 'number':
      return numberKey(text);
    case 'date':
      return text
        .split(/[\s,]+/u)
        .map(datePart)
        .sort()
        .join(' ');
    case 'code':
    case 'path':
      return wordsOf(text).join('');
    default:
      return wordsOf(text).join(' ');
  }
}

function datePart(word: string): string {
  return calendarWord(word) ?? (/\d/u.test(word) ? fold(word).replace(/(?<=\d)\p{L}+$|\.$/gu, '') : fold(word));
}

/** "1,200" and "1200" are the same, and so are "7th" and "7". */
function numberKey(text: string): string {
  return fold(text)
    .replace(/[,.' \u00a0\u202f](?=\d{3}(?!\d))/gu, '')
    .replace(/[^\d.,:/-]/gu, '');
}
