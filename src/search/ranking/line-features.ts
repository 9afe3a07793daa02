/** What a message contains besides its words: features by which an answer is recognised. */

/** The text of a message in the parts that the features read. */
export interface Said {
  readonly text: string;
  /** The beginning without code. */
  readonly head: string;
  /** Words outside code. */
  readonly plainWords: number;
  /** Characters outside code. */
  readonly plainLength: number;
}

const HEAD = 1500;
const CODE = /```[\s\S]*?(?:```|$)/gu;
const TIME =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week(?:end)?s?|months?|years?|days?|recently|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|\d{4}|\d{1,2}(?:st|nd|rd|th)|since|soon)\b/gi;
const NUMBER =
  /\b(?:\d[\d.,:%]*|one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|few|several|both|second|third|first)\b/gi;
const NAME = /(?<=[a-z,] )\p{Lu}\p{Ll}+/gu;
const DIGITS = /\d+/g;
const STANDING = /(?:^|[.!?\n] ?)(?:please )?(?:always|never)\b|\bwhen(?:ever)? i ask\b|\bfrom now on\b/i;
const PREFERENCE =
  /\bi(?:'d| would|'m| really)? (?:\w+ )?prefer|\bmy preference|\brather than\b|\bover (?:heavy|full)/i;
const REACTION = /^(?:hmm|ok|okay|sure|thanks|thank|great|got it|wow|cool|nice|yeah|yes)\b/i;
const WORD = /\w+/g;
const MAX_STANDING = 40;

/** `words` is the number of words of the whole text. */
export function readSaid(text: string, words: number): Said {
  if (!text.includes('```')) return { text, head: text.slice(0, HEAD), plainWords: words, plainLength: text.length };
  const plain = text.replace(CODE, ' ');
  return { text, head: plain.slice(0, HEAD), plainWords: count(plain, WORD), plainLength: plain.length };
}

/** Whether it ends in a question mark, possibly followed by a note in brackets. */
export function isQuestion({ text }: Said): boolean {
  const end = text.slice(-200).trimEnd();
  const note = end.endsWith(']') ? end.lastIndexOf('[') : -1;
  return /[?？]$/u.test(note === -1 ? end : end.slice(0, note).trimEnd());
}

/** An acknowledgement or a follow-up at its start ("ok", "hmm"). */
export function isReaction({ text }: Said): boolean {
  return REACTION.test(text);
}

/** A standing wish ("always …", "whenever I ask …"). */
export function isStanding({ head, plainWords }: Said): boolean {
  return plainWords < MAX_STANDING && STANDING.test(head);
}

export function isPreference({ head }: Said): boolean {
  return PREFERENCE.test(head);
}

export function codeShare({ text, plainLength }: Said): number {
  return plainLength === text.length ? 0 : Math.log(Math.max(1, text.length / Math.max(1, plainLength)));
}

/** Words of time, numbers, digits and names, each 0..1. */
export function times({ head }: Said): number {
  return share(head, TIME, 2);
}

export function numbers({ head }: Said): number {
  return share(head, NUMBER, 2);
}

export function digits({ head }: Said): number {
  return share(head, DIGITS, 4);
}

export function names({ head }: Said): number {
  return share(head, NAME, 4);
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** How many of enough matches there are. Only tests, because a list of the matches would be garbage for each line. */
function share(text: string, pattern: RegExp, enough: number): number {
  let found = 0;
  pattern.lastIndex = 0;
  while (found < enough && pattern.test(text)) found += 1;
  return found / enough;
}
