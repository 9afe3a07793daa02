import { withoutLabel } from '../../context/view/label.ts';
import { fold, wordsOf } from '../../search/words/words.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { normalForm } from '../../util/text/normal-form.ts';
import { trimEndOf, trimEndWhile } from '../../util/text/scan.ts';

const URL = /(?:https?:\/\/|www\.)[^\s<>|)\]]+/giu;
const GREETING =
  /^(?:hi|hello|hey|good (?:morning|evening|night|day)|thanks?(?: you)?|bye|goodbye|see you|how are you|you'?re welcome|lol|haha|ok(?:ay)?|cool|nice|great)?$/iu;
const SAYING = /^(?:said|says|wrote|greeted|thanked|replied|asked how|wished)\b/iu;
/** With at most this many words after "Ada said", the statement is only small talk. */
const MAX_SAID = 60;
const GREETED = /^(?:greeted|thanked|said (?:hi|hello|hey|bye|goodbye|thanks)|wished|waved|laughed|smiled)\b/iu;
/** Longer sentences say more than a greeting. */
const GREETING_WORDS = 6;
const PASSING_WORDS = 9;
const PASSING =
  /\b(?:is|was|feels?|felt|seems?|are|am)\b(?: (?:a bit|a little|very|so|really|quite|just|currently|still)){0,3} (?:tired|sleepy|hungry|thirsty|bored|busy|cold|hot|awake|online|offline|typing|back|here|away|ready|fine|good|okay|ok|happy|sad|well|late|early)(?: (?:now|right now|today|tonight|at the moment|currently|again|this (?:morning|evening|afternoon))){0,3}$/iu;

/** What models add to a statement: the mark of a list, the numbers of its sources, and emphasis. */
const ADDED = /^(?:[-*•–] )+| ?[([](?:sources?:? )?#\d{1,12}(?:[,;]? #?\d{1,12}){0,11}[)\]]|\*\*/giu;
const NUMBER = /#\d{1,12}/gu;

/** One line without invisible and control characters, and without marks and links that its sources do not contain. */
export function cleanStatement(text: string, sourceText: string): string {
  const line = oneLine(normalForm(text, 'NFC'));
  // People number tickets in the same way.
  const numbers = new Set(sourceText.match(NUMBER));
  const isSaid = (added: string) =>
    sourceText.includes(added.trim()) || (added.match(NUMBER) ?? []).some((number) => numbers.has(number));
  return (sourceText.includes(line) ? line : withoutLabel(line))
    .replace(ADDED, (added) => (isSaid(added) ? added : ''))
    .replace(URL, (url) => (sourceText.includes(trimEndOf(url, `.,;:!?'"`)) ? url : ''))
    .split(/\]\( ?\)/u)
    .map((part, index, parts) => (index < parts.length - 1 ? withoutLast(part, '[') : part))
    .join('')
    .split('<')
    .map((part, index) => (index === 0 ? part : withoutBracket(part)))
    .join('')
    .replace(/\s+/gu, ' ')
    .trim();
}

function withoutLast(text: string, part: string): string {
  const at = text.lastIndexOf(part);
  return at === -1 ? text : text.slice(0, at) + text.slice(at + part.length);
}

/** The text after a `<`: up to its `>` it is the label of a link whose address was removed; without one, `<` is an ordinary character. */
function withoutBracket(part: string): string {
  const close = part.indexOf('>');
  return close === -1 ? `<${part}` : part.slice(0, close).replace(/^ ?\|? ?/u, '') + part.slice(close + 1);
}

/** Whether nobody would want to know it tomorrow. */
export function isIdle(text: string): boolean {
  const words = wordsOf(text);
  if (words.length === 0) return true;
  const spaced = /^[\p{sc=Latin}\p{N}\p{P}\p{S}\s]+$/u.test(text);
  if (spaced && words.length < 2) return true;
  const said = trimEndWhile(fold(text), (character) => /[\s\p{P}\p{S}]/u.test(character));
  return (
    isSmallTalk(said) ||
    (words.length <= GREETING_WORDS && [1, 2].some((count) => GREETED.test(afterWords(said, count)))) ||
    (words.length <= PASSING_WORDS && PASSING.test(said.replace(/\s+/gu, ' ')))
  );
}

function isSmallTalk(said: string): boolean {
  const rest = afterWords(said, 1);
  return GREETING.test(said) || (SAYING.test(rest) && rest.length <= MAX_SAID);
}

/** The index after this many words that are each followed by one space. */
function afterWords(text: string, count: number): string {
  return text.split(' ', count).length < count ? '' : text.split(' ').slice(count).join(' ');
}
