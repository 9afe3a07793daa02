import { estimateText, unitWeight, WEIGHT_OF_TOKEN } from './tokens.ts';

/** Shares of the head and the tail in a shortened text; the marker takes the rest. */
const HEAD_SHARE = 0.7;
const TAIL_SHARE = 0.2;
/** No UTF-16 unit takes more, so a short text needs no estimate. */
const MAX_TOKENS_OF_UNIT = 3;

/** Replaces `omitted` characters. */
export type Marker = (omitted: number) => string;

export const leftOut: Marker = (omitted) => `\n[... ${omitted} characters left out ...]\n`;

/** Head, marker and tail within `tokens`, or only a head if the marker does not fit. Never splits a surrogate pair. */
export function shorten(text: string, tokens: number, marker: Marker = leftOut): string {
  if (text.length * MAX_TOKENS_OF_UNIT <= tokens || estimateText(text) <= tokens) return text;
  const room = Math.min(tokens * (HEAD_SHARE + TAIL_SHARE), tokens - estimateText(marker(text.length)));
  if (room <= 0) return headWithin(text, tokens);
  const tailRoom = Math.floor((room * TAIL_SHARE) / (HEAD_SHARE + TAIL_SHARE));
  const head = headWithin(text, Math.floor(room) - tailRoom);
  const tail = tailWithin(text, tailRoom);
  return `${head}${marker(text.length - head.length - tail.length)}${tail}`;
}

/** The longest head with at most this many tokens. */
export function headWithin(text: string, tokens: number): string {
  let weight = 0;
  let end = 0;
  for (; end < text.length; end += 1) {
    weight += unitWeight(text.charCodeAt(end));
    if (weight > tokens * WEIGHT_OF_TOKEN) break;
  }
  return headOf(text, end);
}

function tailWithin(text: string, tokens: number): string {
  let weight = 0;
  let start = text.length;
  for (; start > 0; start -= 1) {
    weight += unitWeight(text.charCodeAt(start - 1));
    if (weight > tokens * WEIGHT_OF_TOKEN) break;
  }
  return text.slice(isLowSurrogate(text, start) ? start + 1 : start);
}

/** The first `length` UTF-16 units, or one fewer if that would split a surrogate pair. */
export function headOf(text: string, length: number): string {
  return text.slice(0, length < text.length && isLowSurrogate(text, length) ? length - 1 : length);
}

/** True if the unit at `index` is a low surrogate, so that a cut before it would split a pair. */
function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
