import type { Question } from './query.ts';

/** What a message contains besides its words: signs by which an answer is recognised. */
export interface Signals {
  readonly isQuestion: boolean;
  /** An acknowledgement or a follow-up at its start ("ok", "hmm"). */
  readonly isReaction: boolean;
  /** Words of time, numbers, digits and names, each 0..1. */
  readonly times: number;
  readonly numbers: number;
  readonly digits: number;
  readonly names: number;
  /** A standing wish ("always …", "whenever I ask …"). */
  readonly isStanding: boolean;
  readonly isPreference: boolean;
  /** Words outside code. */
  readonly plainWords: number;
  readonly codeShare: number;
}

const HEAD = 1500;
const CODE = /```[\s\S]*?(?:```|$)/gu;
const TIME =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week(?:end)?s?|months?|years?|days?|recently|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|\d{4}|\d{1,2}(?:st|nd|rd|th)|since|soon)\b/gi;
const NUMBER =
  /\b(?:\d[\d.,:%]*|one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|few|several|both|second|third|first)\b/gi;
const NAME = /(?<=[a-z,] )\p{Lu}\p{Ll}+/gu;
const STANDING = /(?:^|[.!?\n] ?)(?:please )?(?:always|never)\b|\bwhen(?:ever)? i ask\b|\bfrom now on\b/i;
const PREFERENCE =
  /\bi(?:'d| would|'m| really)? (?:\w+ )?prefer|\bmy preference|\brather than\b|\bover (?:heavy|full)/i;
const REACTION = /^(?:hmm|ok|okay|sure|thanks|thank|great|got it|wow|cool|nice|yeah|yes)\b/i;
const WORD = /\w+/g;
const MAX_STANDING = 40;

interface Reading {
  /** The number of words of the whole text. */
  readonly words: number;
  readonly question: Pick<Question, 'asksWhen' | 'asksNumber' | 'asksAdvice'>;
  readonly isBot: boolean;
}

/** Computes only what matters for the question; for a bot's text only whether it asks. */
export function signalsOf(text: string, { words, question, isBot }: Reading): Signals {
  const isQuestion = asks(text.slice(-200));
  if (isBot) return { ...NOTHING, isQuestion, plainWords: words };
  const plain = text.includes('```') ? text.replace(CODE, ' ') : text;
  const head = plain.slice(0, HEAD);
  const plainWords = plain === text ? words : count(plain, WORD);
  return {
    isQuestion,
    isReaction: REACTION.test(text),
    times: question.asksWhen ? share(count(head, TIME), 2) : 0,
    numbers: question.asksNumber ? share(count(head, NUMBER), 2) : 0,
    digits: share(count(head, /\d+/g), 4),
    names: share(count(head, NAME), 4),
    isStanding: plainWords < MAX_STANDING && STANDING.test(head),
    isPreference: question.asksAdvice && PREFERENCE.test(head),
    plainWords,
    codeShare: plain === text ? 0 : Math.log(Math.max(1, text.length / Math.max(1, plain.length))),
  };
}

/** Whether it ends in a question mark, possibly followed by a note in brackets. */
function asks(end: string): boolean {
  const said = end.trimEnd();
  const note = said.endsWith(']') ? said.lastIndexOf('[') : -1;
  return /[?？]$/u.test(note === -1 ? said : said.slice(0, note).trimEnd());
}

const NOTHING: Signals = {
  isQuestion: false,
  isReaction: false,
  times: 0,
  numbers: 0,
  digits: 0,
  names: 0,
  isStanding: false,
  isPreference: false,
  plainWords: 0,
  codeShare: 0,
};

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function share(found: number, enough: number): number {
  return Math.min(found, enough) / enough;
}
