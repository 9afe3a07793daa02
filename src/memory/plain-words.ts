import { latin } from '../search/lookalikes.ts';
import { wordsOf } from '../search/words.ts';
import { normalForm } from '../util/normal-form.ts';

/** The words of a text by how they look: without case and accents, and lookalikes as Latin letters. */
export function plainWordsOf(text: string): readonly string[] {
  return wordsOf(text).map((word) => latin(withoutAccents(word)));
}

function withoutAccents(word: string): string {
  return normalForm(word, 'NFD')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC');
}
