import { tellingWords } from '../../search/words/stop-words.ts';
import { fold, wordsOf } from '../../search/words/words.ts';
import { visibleText } from '../../util/text/foreign-text.ts';
import { fingerprintFor, fingerprintOf } from '../statements/fingerprint.ts';

/** The names in a place, used to tell whom a sentence is about. */
export interface Naming {
  /** The person's names there. */
  readonly names: readonly string[];
  /** Everybody else's names there. */
  readonly others: readonly string[];
}

/**
 * Characters that end a sentence before a space or the end of the text; in scripts without spaces they end it at once.
 */
const SENTENCE_ENDS = new Set('.!?…');
const FULL_STOPS = new Set('。！？\n');
const MIN_NAME_LENGTH = 2;

/** The sentences of a text, exactly as written. */
export function sentencesOf(text: string): readonly string[] {
  const found: string[] = [];
  let start = 0;
  const take = (end: number) => {
    const sentence = text.slice(start, end).trim();
    if (sentence !== '') found.push(sentence);
    start = end;
  };
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    const next = text.charAt(index + 1);
    if (FULL_STOPS.has(character)) take(index + 1);
    else if (SENTENCE_ENDS.has(character) && (next === '' || next.trim() === '')) take(index + 1);
  }
  take(text.length);
  return found;
}

/** The sentences of a text that say the same as one sentence, ignoring case, spacing and punctuation. */
export function sentencesLike(text: string, sentence: string): readonly string[] {
  const wanted = fingerprintOf(visibleText(sentence));
  return sentencesOf(text).filter((one) => fingerprintOf(visibleText(one)) === wanted);
}

/** A sentence, and a hash by which it is recognised. */
export interface SentencePrint {
  readonly text: string;
  /** Equal for what `sentencesLike` counts as the same in one message. */
  readonly print: string;
}

/** The sentences of a message, for comparison with those that were deleted from it. */
export function sentencePrints(text: string, messageId: string): readonly SentencePrint[] {
  return sentencesOf(text).map((one) => ({
    text: one,
    print: fingerprintFor(messageId, fingerprintOf(visibleText(one))),
  }));
}

/** Words with which speakers refer to themselves; such a sentence is about the speaker too. */
const FIRST_PERSON = new Set(
  'i im ive me my mine myself we us our ours ourselves ich mich mir mein meine meinen wir uns unser je moi mon ma mes nous notre yo mi mis nosotros nuestro eu meu minha io mio 我 我们 我們 私 僕 俺'.split(
    ' ',
  ),
);
/** After "I", these verbs say how somebody knows something, and nothing about the speaker. */
const EVIDENTIAL = new Set(
  'think thought know knew heard hear believe guess suppose remember noticed saw see told said say mean hope bet'.split(
    ' ',
  ),
);
const COORDINATORS = new Set(['and', 'und', 'et', 'y', 'e', 'och', 'og', 'en', '&', '+', ',']);
const TOKEN = /[\p{L}\p{N}\p{M}'’]+|[&+,]/gu;

/** Whether a sentence names the person and, as far as can be told, nobody else. Linear in its length. */
export function isOnlyAbout(sentence: string, { names, others }: Naming): boolean {
  const words = wordsOf(sentence);
  const own = names.map(wordsOf).filter(isTellingName);
  if (!own.some((name) => indexOfWords(words, name) >= 0)) return false;
  if (others.some((name) => isNamed(words, wordsOf(name)))) return false;
  return !speaksOfSpeaker(words) && !own.some((name) => isCoordinated(sentence, name));
}

/** Names that consist of stop words occur in too many sentences. The word next to such a name prevents a match. */
function isTellingName(name: readonly string[]): boolean {
  return name.join('').length >= MIN_NAME_LENGTH && tellingWords([...name, 'somebody']).length > 1;
}

/** Before an ordinary word, and hardly ever before what somebody is called, as "that" is in "I know that Ada sings". */
const DETERMINERS = new Set(
  'the this these those our your every each next last another any some no ein eine einen einem eines kein keine keinen jede jeder jedes unser unsere nächste nächsten ce cette ces notre votre chaque prochain prochaine este esta nuestro nuestra cada questo questa nostro nostra ogni'.split(
    ' ',
  ),
);

/** Whether the name occurs among the words as an ordinary one: "the release", "our next release". */
export function isOrdinaryAmong(words: readonly string[], name: string): boolean {
  const [head, ...rest] = wordsOf(name);
  return words.some(
    (word, at) =>
      isWord(word, head ?? '') &&
      DETERMINERS.has(words[at - 1] ?? '') &&
      rest.every((part, index) => isWord(words[at + 1 + index], part)),
  );
}

/** Whether the words contain the name, whatever it means there. */
export function holdsName(words: readonly string[], name: string): boolean {
  return indexOfWords(words, wordsOf(name)) >= 0;
}

/** Whether the words contain the name, and it can be told from other words. */
export function isNamed(words: readonly string[], name: readonly string[]): boolean {
  return indexOfWords(words, name) >= 0 && isTellingName(name);
}

/** Index at which the words of a name occur together; -1 if they do not. A name before a possessive "s" counts. */
function indexOfWords(words: readonly string[], name: readonly string[]): number {
  if (name.length === 0) return -1;
  return words.findIndex((_, start) => name.every((word, index) => isWord(words[start + index], word)));
}

/** Words contain no apostrophes: "Ada's" is "adas". */
function isWord(word: string | undefined, name: string): boolean {
  return word === name || word === `${name}s`;
}

/** Such a sentence is about its speaker too. */
export function speaksOfSpeaker(words: readonly string[]): boolean {
  return words.some((word, index) => {
    if (!FIRST_PERSON.has(word)) return false;
    return word !== 'i' || !EVIDENTIAL.has(words[index + 1] ?? '');
  });
}

/** "Ada and Carol" may also mean somebody who is not known here. */
function isCoordinated(sentence: string, name: readonly string[]): boolean {
  const tokens = sentence.match(TOKEN) ?? [];
  const folded = tokens.map((token) => wordsOf(token)[0] ?? fold(token));
  const start = indexOfWords(folded, name);
  if (start < 0) return false;
  const end = start + name.length;
  const joins = (at: number) => COORDINATORS.has(folded[at] ?? '');
  return (joins(end) && isCapitalised(tokens[end + 1])) || (joins(start - 1) && isCapitalised(tokens[start - 2]));
}

function isCapitalised(token: string | undefined): boolean {
  return token !== undefined && /^\p{Lu}/u.test(token);
}
