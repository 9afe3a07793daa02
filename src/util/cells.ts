import { graphemesOf } from './text.ts';

const PLAIN = /^[ -~]*$/;
/** Emoji, and the blocks that Unicode calls wide. Half-width kana are narrow. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\u{fe0f}|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}])/u;

/** Width in terminal cells: Chinese, Japanese, Korean and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += cellsOf(segment);
  return width;
}

function cellsOf(grapheme: string): number {
  return WIDE.test(grapheme) ? 2 : 1;
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

/** Lines of at most `width` cells, broken between words; a longer word is cut. */
export function wrapCells(text: string, width: number): readonly string[] {
  if (width === Number.POSITIVE_INFINITY) return text.split('\n');
  return text.split('\n').flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current: string | null = null;
  let filled = 0;
  for (const word of line.split(' ')) {
    for (const part of pieces(word, width)) {
      if (current !== null && filled + 1 + part.cells <= width) {
        current += ` ${part.text}`;
        filled += 1 + part.cells;
        continue;
      }
      if (current !== null) lines.push(current);
      current = part.text;
      filled = part.cells;
    }
  }
  return current === null ? lines : [...lines, current];
}

interface Piece {
  readonly text: string;
  readonly cells: number;
}

/** A word, in parts of at most `width` cells. */
function pieces(word: string, width: number): readonly Piece[] {
  if (PLAIN.test(word) && word.length <= width) return [{ text: word, cells: word.length }];
  const parts: Piece[] = [];
  let start = 0;
  let cells = 0;
  for (const { segment, index } of graphemesOf(word)) {
    const added = cellsOf(segment);
    if (cells > 0 && cells + added > width) {
      parts.push({ text: word.slice(start, index), cells });
      start = index;
      cells = 0;
    }
    cells += added;
  }
  return [...parts, { text: word.slice(start), cells }];
}
