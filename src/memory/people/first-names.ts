import type { Author } from '../../domain/message.ts';
import { isStopWord } from '../../search/words/stop-words.ts';
import { wordsOf } from '../../search/words/words.ts';
import { memoize } from '../../util/async/memoize.ts';
import { isSmall } from './name-forms.ts';
import { isSameName, mentionsName, namesIn } from './people.ts';

const MIN_LENGTH = 2;

/**
 * The first word of a name of several words, by which people are called, too; "Anna-Lena" is one. Null if it could be
 * any word.
 */
export function firstNameOf(name: string): string | null {
  const [first = '', ...more] = name.trim().split(/\s+/u);
  const words = wordsOf(first);
  const isTelling = words.join('').length >= MIN_LENGTH && !words.every(isStopWord);
  return more.length > 0 && isTelling ? first : null;
}

/** Whether somebody with this name is called that, by the whole name or the first word of it. */
export function isCalled(name: string, called: string): boolean {
  if (isSameName(name, called)) return true;
  const first = firstNameOf(name);
  return first !== null && isSameName(first, called);
}

/** Words alone, and with those that a hyphen or an apostrophe joins to them. */
const WORDS = [/[\p{L}\p{M}\p{N}]+/gu, /[\p{L}\p{M}\p{N}‐’'-]+/gu];

/**
 * For one text and many names: the first word of a name if the text contains it, written like a name. Anybody may be
 * called "Release Manager", and a release is nobody.
 */
function firstNamesIn(text: string): (name: string) => string | null {
  const isMentioned = namesIn(text);
  const words = WORDS.flatMap((pattern) => text.match(pattern) ?? []).filter((word) => !isSmall(word));
  const isWritten = memoize((first: string) => words.some((word) => isSameName(bare(word), bare(first))));
  return (name) => {
    const first = firstNameOf(name);
    return first !== null && isMentioned(first) && isWritten(first) ? first : null;
  };
}

/** Whether the text contains the name, or the first word of it written like a name. */
export function mentionsPerson(text: string, name: string): boolean {
  return mentionsName(text, name) || firstNamesIn(text)(name) !== null;
}

/** The first name of one of the others that the text contains, and that does not mean the speaker. */
export function calledIn(text: string, speaker: Pick<Author, 'name'>, others: readonly Author[]): string | null {
  const firstNameIn = firstNamesIn(text);
  for (const { name } of others) {
    const first = firstNameIn(name);
    if (first !== null && !isCalled(speaker.name, first)) return first;
  }
  return null;
}

/** Without the ending of a possessive: "Adas Passwort". */
function bare(word: string): string {
  return word.replace(/s$/u, '');
}
