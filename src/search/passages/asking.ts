import { isOwnPast } from '../ranking/asked-kinds.ts';
import {
  ASKING_ANYWHERE,
  ASKING_PHRASES,
  ASKING_UNSPACED,
  CONJUNCTIONS,
  ENGLISH_TOO,
  EXCLAMATION,
  FORGOTTEN,
  GREETINGS,
  INDEFINITE,
  ONCE_MORE,
  PREPOSITIONS,
  QUESTION_WORDS,
  REACTIONS,
  REQUESTS,
  SUBJECTS,
  VERBS,
} from '../ranking/question-words.ts';
import { fold, isAscii } from '../words/words.ts';

/**
 * Whether a message asks about something said earlier, judged by its form alone. Only such messages cause a search for
 * passages. Most messages state something or continue the current topic.
 */

/** No more than this of a message is read. */
const READ_CHARACTERS = 2000;
/** Maximum words of a message that opens like a question, and of one that only ends like one. */
const MAX_OPENED_WORDS = 60;
const MAX_CLOSED_WORDS = 24;
/** Share of the words that the question itself must have. */
const MIN_SHARE = 0.6;
/** A greeting or an addressed name in front of a question has at most these words. */
const MAX_GREETING_WORDS = 3;
const MAX_LEAD_WORDS = 2;
/** "Thanks, that helps a lot." in front of a question. */
const MAX_REACTION_WORDS = 5;
/** A shorter question after a reaction continues the topic: "Oh, why?" */
const MIN_NEW_QUESTION_WORDS = 3;
/** The same in characters, where words have no spaces. */
const MIN_UNSPACED_QUESTION = 5;
/** A negation that is part of the question, and no answer: "¿No vivía Clara en Lisboa?" */
const NEGATED = /^[^\p{L}]*n(?:o|on|ão)\s+\p{L}[^,.!]*$/u;
/** What a short statement in front of a question may have: "We are at the door. What was the code?" */
const MAX_REASON_WORDS = 12;
const MIN_REASONED_WORDS = 4;

const QUESTION_MARKS = /[?？؟⸮՞]/u;
/** Greek writes question marks as semicolons. */
const GREEK = /\p{sc=Greek}/u;
const UNSPACED_SCRIPT =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;
const SENTENCE_END = /[.!?。．！？؟۔।។။።։\n]/gu;
/** The colon after a label, but not that of a time, an address or an emoji name. */
const LABEL_END = /：|:(?=[\s\p{L}])/u;
/** "avons-nous", "te souviens-tu": only questions attach the subject. */
const INVERTED = /-(?:je|tu|il|elle|on|nous|vous|ils|elles|ce)$/u;
/** The Turkish particle at the end; "mi" means something else elsewhere. */
const TURKISH = /[ığş]/u;
const TURKISH_END = /^m[iu]$/u;
const MAX_OPENING_WORDS = 3;
/** Before a full stop that ends no sentence, as in "Dr. Ada B. Lovelace". */
const ABBREVIATED = /(?:^|[^\p{L}\p{N}])(?:\p{L}|dr|mr|mrs|ms|st|nr|prof)$/u;
const MAX_ABBREVIATION = 6;

export function asksOfThePast(text: string): boolean {
  const read = fold(text.slice(0, READ_CHARACTERS)).trim();
  const folded = GREEK.test(read) ? read.replaceAll(';', '?') : read;
  const sentences = reactionJoined(
    withoutGreeting(sentencesOf(folded).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))),
  );
  const [opening = '', ...others] = sentences;
  const words = withoutGreetings(wordsIn(opening));
  const [first = ''] = words;
  if (words.length === 0 || (REACTIONS.has(first) && !asksAfterReaction(opening, words))) return false;
  const told = others
    .filter((sentence) => !QUESTION_MARKS.test(sentence))
    .reduce((sum, sentence) => sum + wordsIn(sentence).length, 0);
  if (words.length < MIN_SHARE * (words.length + told)) return false;
  const isMarked = QUESTION_MARKS.test(opening);
  if (isOpened(opening, words) || (isMarked && opensMarked(first))) return words.length <= MAX_OPENED_WORDS;
  if (isMarked) return words.length <= MAX_CLOSED_WORDS;
  return !opening.endsWith('!') && isAskedWithReason(words, others);
}

/**
 * Most questions after a reaction are about what was just said: "Hmm, should I restart it after that?" One with a
 * question word, as in "Ok, and where does Clara live?", may be about anything.
 */
function asksAfterReaction(opening: string, words: readonly string[]): boolean {
  if (ONCE_MORE.test(opening) || FORGOTTEN.test(opening)) return true;
  if (!QUESTION_MARKS.test(opening)) return false;
  if (NEGATED.test(opening)) return words.length >= MIN_NEW_QUESTION_WORDS;
  const asked = words.slice(words.findIndex((word) => !REACTIONS.has(word) && !GREETINGS.has(word)));
  const said = asked.join('');
  if (UNSPACED_SCRIPT.test(said)) return said.length >= MIN_UNSPACED_QUESTION && ASKING_UNSPACED.test(said);
  return asked.length >= MIN_NEW_QUESTION_WORDS && QUESTION_WORDS.has(asked[0] ?? '');
}

/** Whether a sentence asks by its words alone, without a question mark. A label before a colon is left out. */
function isOpened(sentence: string, words: readonly string[]): boolean {
  const content = afterLabel(sentence);
  const said = content === sentence ? words : withoutGreetings(wordsIn(content));
  if (asksByWords(content, said)) return true;
  const comma = content.search(/[,،，、]/u);
  const isLead = comma > 0 && wordsIn(content.slice(0, comma)).length <= MAX_LEAD_WORDS;
  if (!isLead || EXCLAMATION.test(content)) return false;
  const rest = content.slice(comma + 1);
  return asksByWords(rest.trim(), wordsIn(rest));
}

/** A label is followed by what it names: "Shopping list: milk, eggs" asks nothing, "Question: where is it" does. */
function afterLabel(sentence: string): string {
  const label = LABEL_END.exec(sentence);
  return label === null ? sentence : sentence.slice(label.index + 1).trim();
}

function asksByWords(sentence: string, words: readonly string[]): boolean {
  const [first = '', second = '', third = ''] = words;
  const said = words.join(' ');
  if (EXCLAMATION.test(said)) return false;
  if (REQUESTS.test(said) || FORGOTTEN.test(sentence)) return true;
  if (UNSPACED_SCRIPT.test(sentence)) return ASKING_UNSPACED.test(sentence.replace(INDEFINITE, ''));
  if (words.length > 1 && QUESTION_WORDS.has(first) && !ENGLISH_TOO.has(first))
    return !(CONJUNCTIONS.has(first) && /[,،]/u.test(sentence));
  if (ASKING_PHRASES.test(said) || (VERBS.has(first) && (SUBJECTS.has(second) || SUBJECTS.has(third)))) return true;
  if (PREPOSITIONS.has(first) && QUESTION_WORDS.has(second)) return true;
  return words.slice(0, MAX_OPENING_WORDS).some((word) => INVERTED.test(word)) || asksInside(said, words);
}

function asksInside(said: string, words: readonly string[]): boolean {
  const last = words.at(-1) ?? '';
  if (TURKISH_END.test(last) && TURKISH.test(said)) return true;
  return words.some((word, at) => ASKING_ANYWHERE.has(word) || (word === 'ли' && at > 0 && at < MAX_OPENING_WORDS));
}

/** With a question mark, these begin a question that may be long. */
function opensMarked(first: string): boolean {
  return QUESTION_WORDS.has(first) || VERBS.has(first) || PREPOSITIONS.has(first) || MARKED_OPENERS.has(first);
}

const MARKED_OPENERS = new Set([
  'considering',
  'based',
  'given',
  'tell',
  'remind',
  'list',
  'show',
  'give',
  'name',
  'the',
  'any',
]);

/** A question about people's own past, after a short statement that gives the reason for it. */
function isAskedWithReason(words: readonly string[], others: readonly string[]): boolean {
  if (words.length > MAX_REASON_WORDS || others.length === 0) return false;
  return others.every((sentence) => {
    const asked = withoutGreetings(wordsIn(sentence));
    const isQuestion = QUESTION_MARKS.test(sentence) && asked.length >= MIN_REASONED_WORDS;
    return isQuestion && QUESTION_WORDS.has(asked[0] ?? '') && isOwnPast(sentence);
  });
}

/** Without sentences that only greet. */
function withoutGreeting(sentences: readonly string[]): readonly string[] {
  const [first = '', ...others] = sentences;
  const words = wordsIn(first);
  const isGreeting = others.length > 0 && GREETINGS.has(words[0] ?? '') && words.length <= MAX_GREETING_WORDS;
  return isGreeting && !QUESTION_MARKS.test(first) ? others : sentences;
}

/** A reaction that is a sentence of its own counts as the beginning of the question after it. */
function reactionJoined(sentences: readonly string[]): readonly string[] {
  const [first = '', second = '', ...others] = sentences;
  const words = wordsIn(first);
  const [reaction = ''] = words;
  const isReaction = REACTIONS.has(reaction) && words.length <= MAX_REACTION_WORDS && !QUESTION_MARKS.test(first);
  return isReaction && QUESTION_MARKS.test(second) ? [`${reaction}, ${second}`, ...others] : sentences;
}

/** Split after each sentence mark followed by a space; marks of unspaced scripts need no space. */
function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { 0: mark, index: at } of text.matchAll(SENTENCE_END)) {
    const next = text.charAt(at + 1);
    if (mark.charCodeAt(0) < 0x80 && mark !== '\n' && next !== '' && !/\s/u.test(next)) continue;
    if (mark === '.' && ABBREVIATED.test(text.slice(Math.max(start, at - MAX_ABBREVIATION), at))) continue;
    sentences.push(text.slice(start, at + 1));
    start = at + 1;
  }
  return [...sentences, text.slice(start)];
}

/** Greetings and addressed names ("Ada, when …") say nothing about the question. */
function withoutGreetings(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !GREETINGS.has(word) && !word.startsWith('@'));
  return start < 0 ? [] : words.slice(start);
}

/** Most text is ASCII, which the short expression reads much faster. */
function wordsIn(sentence: string): readonly string[] {
  if (isAscii(sentence)) return sentence.replaceAll("'", '').match(/[\w@-]+/g) ?? [];
  return sentence
    .replace(/['’ʼ]/gu, '')
    .split(/[^\p{L}\p{N}\p{M}@_-]+/u)
    .filter((word) => word !== '');
}
