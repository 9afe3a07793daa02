import { fold, wordsOf } from '../search/words.ts';
import { oneLine } from '../util/foreign-text.ts';

const URL = /(?:https?:\/\/|www\.)[^\s<>|)\]]+/giu;
const SMALL_TALK =
  /^(?:\S+ (?:said|says|wrote|greeted|thanked|replied|asked how|wished)\b.{0,40})?(?:hi|hello|hey|good (?:morning|evening|night|day)|thanks?(?: you)?|thank you|bye|goodbye|see you|how are you|you'?re welcome|lol|haha|ok(?:ay)?|cool|nice|great)?[\s\p{P}\p{S}]*$/iu;
const GREETED =
  /^\S+(?: \S+)? (?:greeted|thanked|said (?:hi|hello|hey|bye|goodbye|thanks)|wished|waved|laughed|smiled)\b/iu;
/** Longer sentences say more than that. */
const GREETING_WORDS = 6;
const PASSING_WORDS = 9;
const PASSING =
  /\b(?:is|was|feels?|felt|seems?|are|am)\b(?:\s+(?:a bit|a little|very|so|really|quite|just|currently|still))*\s+(?:tired|sleepy|hungry|thirsty|bored|busy|cold|hot|awake|online|offline|typing|back|here|away|ready|fine|good|okay|ok|happy|sad|well|late|early)(?:\s+(?:now|right now|today|tonight|at the moment|currently|again|this (?:morning|evening|afternoon)))*[\s.!]*$/iu;

/** One line without invisible and control characters, and without links that its sources do not hold. */
export function cleanStatement(text: string, sourceText: string): string {
  return oneLine(text.normalize('NFC'))
    .replace(URL, (url) => (sourceText.includes(url.replace(/[.,;:!?'"]+$/u, '')) ? url : ''))
    .replace(/\[([^\]]*)\]\(\s*\)/gu, '$1')
    .replace(/<\s*\|?\s*([^<>]*)>/gu, '$1')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Nothing that anyone would want to know tomorrow. */
export function isIdle(text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0) return true;
  const spaced = /^[\p{sc=Latin}\p{N}\p{P}\p{S}\s]+$/u.test(text);
  if (spaced && words.length < 2) return true;
  const folded = fold(text);
  return (
    SMALL_TALK.test(folded) ||
    (words.length <= GREETING_WORDS && GREETED.test(folded)) ||
    (words.length <= PASSING_WORDS && PASSING.test(folded))
  );
}
