import { createRequire } from 'node:module';
import { graphemesOf } from './text.ts';

/** Characters of one cell each: ASCII, and the Latin letters and signs of Western Europe. */
const PLAIN = /^[ -~\u00a1-\u00ac\u00ae-\u02ff]*$/;

/** Width in terminal cells: Chinese, Japanese, Korean and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += cellsOf(segment);
  return width;
}

/** Cached, because the library looks up each character in tables. */
const measured = new Map<string, number>();
const MAX_MEASURED = 5_000;

/** The cells of one character, with the marks that belong to it. */
export function cellsOf(character: string): number {
  if (character.length === 1 && PLAIN.test(character)) return 1;
  const known = measured.get(character);
  if (known !== undefined) return known;
  const cells = openTables().default(character);
  if (measured.size < MAX_MEASURED) measured.set(character, cells);
  return cells;
}

const require = createRequire(import.meta.url);

/** Loaded with the first other character: preparing its tables takes long. */
function openTables(): typeof import('string-width') {
  return require('string-width');
}

/** An id stays whole; a longer word may be cut. */
const MAX_WORD_WIDTH = 28;
/** Wide scripts have no spaces and may break anywhere, but a column of single characters cannot be read. */
const MIN_WIDE_WIDTH = 8;

/** The narrowest column in which a text stays readable. */
export function leastWidth(text: string): number {
  let least = 0;
  for (const [word] of text.matchAll(/\S+/g)) least = Math.max(least, leastOf(word));
  return least;
}

function leastOf(word: string): number {
  if (PLAIN.test(word)) return Math.min(word.length, MAX_WORD_WIDTH);
  let width = 0;
  let most = MAX_WORD_WIDTH;
  for (const { segment } of graphemesOf(word)) {
    const cells = cellsOf(segment);
    if (cells > 1) most = MIN_WIDE_WIDTH;
    width += cells;
    if (width >= MAX_WORD_WIDTH) break;
  }
  return Math.min(width, most);
}
