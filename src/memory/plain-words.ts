import { latin, undecorated } from '../search/lookalikes.ts';
import { wordsOf } from '../search/words.ts';

/** The words of a text by how they look: without case and accents, and lookalikes as Latin letters. */
export function plainWordsOf(text: string): readonly string[] {
  return wordsOf(undecorated(text)).map((word) => latin(undecorated(word)));
}
