import { wordsOf } from './words.ts';

/** A shorter number is no code. */
const MIN_LENGTH = 4;

/** Numbers written in groups, each joined: "4111 1111 2222" becomes "411111112222". */
export function joinedNumbersIn(text: string): readonly string[] {
  const found: string[] = [];
  let group: string[] = [];
  for (const word of [...wordsOf(text), '']) {
    if (/^\d+$/.test(word)) group.push(word);
    else {
      if (group.length > 1) found.push(group.join(''));
      group = [];
    }
  }
  return found.filter((number) => number.length >= MIN_LENGTH);
}
