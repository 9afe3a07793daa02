import { withoutLabel } from '../../../context/view/label.ts';
import { cleanText } from '../../../util/text/text.ts';

/** The role of the model. */
const ROLE = /^\s{0,8}(?:assistant|<you>):\s{1,4}/i;
const BEGUN = /^\s{0,8}\[(?:#[^\]\n]{0,220})?$/;
/** The beginning of a role, which the next characters may complete. */
const ROLE_BEGUN = new RegExp(`^(?:${beginningsOf('assistant:')}|${beginningsOf('<you>:')})\\s{0,3}$`, 'i');
/** Somebody else speaks in it, so it is a dialogue that somebody asked for. */
const DIALOGUE = /^(?:user|human|system|assistant|<\w{1,20}>):/im;

/** The answer without a label before it: models imitate the labels of the messages that they read. */
export function withoutOwnLabel(answer: string): string {
  const unlabelled = withoutLabel(answer);
  if (unlabelled !== answer) return unlabelled;
  const role = ROLE.exec(answer)?.[0];
  if (role === undefined) return answer;
  const rest = answer.slice(role.length);
  return DIALOGUE.test(rest) ? answer : rest;
}

/** The same while it is written; empty until it is clear whether it begins with a label. */
export function draftWithoutLabel(draft: string): string {
  const whole = draft.trimStart();
  const end = HEAD_LENGTH - (isPairAt(whole, HEAD_LENGTH - 1) ? 1 : 0);
  // The finished answer is cleaned in the same way before it is checked.
  const head = cleanText(whole.slice(0, end)).trimStart();
  if (head === '' || BEGUN.test(head) || ROLE_BEGUN.test(head)) return '';
  return withoutOwnLabel(head) + whole.slice(end);
}

/** Longer than any label. */
const HEAD_LENGTH = 400;

/** Takes an answer as it grows: all of it so far, and what was added. Returns what may be shown. */
export type Draft = (textSoFar: string, added: string) => string;

/**
 * Once the beginning is clear, only adds to it: reading the whole text for each delta would take longer and longer.
 */
export function createDraft(): Draft {
  let shown = '';
  let length = 0;
  let isClear = false;
  return (textSoFar, added) => {
    const hasRestarted = textSoFar.length !== length + added.length;
    isClear &&= !hasRestarted;
    shown = isClear ? shown + added : draftWithoutLabel(textSoFar);
    length = textSoFar.length;
    isClear ||= length > MAX_HEAD_LENGTH || (shown !== '' && textSoFar.trimStart().length > HEAD_LENGTH);
    return shown;
  };
}

/** An answer without a visible character up to here is shown as it is. */
const MAX_HEAD_LENGTH = 20 * HEAD_LENGTH;

function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}

/** `a|as|ass …`. */
function beginningsOf(word: string): string {
  return Array.from(word, (_, index) => word.slice(0, index + 1)).join('|');
}
