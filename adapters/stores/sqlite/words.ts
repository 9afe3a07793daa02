import { onShelf, wordsOnShelf } from '../sql/index.ts';

/** The text of a row as the index takes it. It has to stay the same, because it is taken out again by it. */
export function indexText(shelf: number, text: string): string {
  return wordsOnShelf(shelf, text).join(' ');
}

/** What the index calls a word that a query looks for. */
export function indexTerm(shelf: number, word: string): string {
  return `"${onShelf(shelf, word)}"`;
}
