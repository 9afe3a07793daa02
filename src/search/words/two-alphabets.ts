import { fold } from './words.ts';

/** Serbian is written in two alphabets, often by the people of one conversation, and one letter stands for another. */

const LETTERS = new Map(
  'аa бb вv гg дd ђd еe жz зz иi јj кk лl љlj мm нn њnj оo пp рr сs тt ћc уu фf хh цc чc џdz шs'
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);
const SERBIAN = new RegExp(`^[${[...LETTERS.keys()].join('')}]{2,}$`, 'u');
const CYRILLIC = /\p{sc=Cyrillic}/u;
/** Other languages hardly write a sentence without a letter that Serbian lacks. */
const OTHERS = new RegExp(`(?![${[...LETTERS.keys()].join('')}])\\p{sc=Cyrillic}`, 'u');

/** Whether a text is in Cyrillic letters, all of them Serbian. */
export function mayBeSerbian(text: string): boolean {
  if (!CYRILLIC.test(text)) return false;
  return !OTHERS.test(fold(text));
}

/** A folded Serbian word in plain Latin letters; none for other words. */
export function latinFormsOf(word: string): readonly string[] {
  return SERBIAN.test(word) ? [word.replace(/./gu, (letter) => LETTERS.get(letter) ?? letter)] : [];
}
