import { cellsOf } from './cells.ts';
import { graphemesOf } from './text.ts';

/** Breaks lines between words while text arrives. */
export interface Wrapper {
  /** The text that can be written now. The last word is held back until it is complete. */
  write(text: string): string;
  /** The text held back. */
  end(): string;
}

interface State {
  /** Cells filled on the current row. */
  column: number;
  /** Since the last word. */
  blanks: string;
  word: string;
  wordCells: number;
  /** The last character, which combining characters may follow. */
  unread: string;
  isEscape: boolean;
}

/** `columns` is read for each word, because a terminal can be resized. Escape sequences fill no cells. */
export function createWrapper(columns: () => number): Wrapper {
  const state: State = { column: 0, blanks: '', word: '', wordCells: 0, unread: '', isEscape: false };
  return {
    write(text) {
      const characters = Array.from(graphemesOf(state.unread + text), ({ segment }) => segment);
      state.unread = characters.pop() ?? '';
      return characters.map((character) => take(state, character, columns())).join('');
    },
    end() {
      const last = state.unread === '' ? '' : take(state, state.unread, columns());
      state.unread = '';
      return last + place(state, columns());
    },
  };
}

/** A whole text, broken between words. */
export function wrap(text: string, columns: number): string {
  const wrapper = createWrapper(() => columns);
  return wrapper.write(text) + wrapper.end();
}

function take(state: State, character: string, columns: number): string {
  if (character === '\u001b' || state.isEscape) {
    state.word += character;
    state.isEscape = !/^[A-Za-z]$/.test(character);
    return '';
  }
  if (character === '\n') {
    const word = place(state, columns);
    Object.assign(state, { column: 0, blanks: '' });
    return `${word}\n`;
  }
  if (/^\s$/.test(character)) {
    const word = place(state, columns);
    state.blanks += character === '\t' ? '  ' : character;
    return word;
  }
  const cells = cellsOf(character);
  // Wide scripts have no spaces, so a line may break before any character.
  const before = cells > 1 ? place(state, columns) : '';
  state.word += character;
  state.wordCells += cells;
  return cells > 1 ? before + place(state, columns) : before;
}

/** The held word, on a new row if it does not fit on this one. */
function place(state: State, columns: number): string {
  const { column, blanks, word, wordCells } = state;
  if (word === '') return '';
  Object.assign(state, { blanks: '', word: '', wordCells: 0 });
  if (column + blanks.length + wordCells <= columns) {
    state.column = column + blanks.length + wordCells;
    return blanks + word;
  }
  if (wordCells <= columns) {
    state.column = wordCells;
    return column === 0 ? word : `\n${word}`;
  }
  return breakWord(state, column + blanks.length < columns ? blanks : '', { word, columns });
}

/** A word longer than a row is cut at the edge. */
function breakWord(
  state: State,
  blanks: string,
  { word, columns }: { readonly word: string; readonly columns: number },
): string {
  let text = blanks;
  state.column += blanks.length;
  for (const { segment } of graphemesOf(word)) {
    const cells = cellsOf(segment);
    if (state.column + cells > columns && state.column > 0) {
      text += '\n';
      state.column = 0;
    }
    text += segment;
    state.column += cells;
  }
  return text;
}
