import { onShelf, wordsOnShelf } from '../sql/index.ts';

/** The text of a row in index form. It must stay the same, because it is needed to remove the row from the index. */
export function indexText(shelf: number, text: string): string {
  return wordsOnShelf(shelf, text).join(' ');
}

/** The index form of a word in a query. */
export function indexTerm(shelf: number, word: string): string {
  return `"${onShelf(shelf, word)}"`;
}
