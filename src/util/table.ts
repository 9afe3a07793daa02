import { graphemesOf } from './text.ts';

/** Formats columns, two spaces apart, padded by their width in a terminal. The last column is not padded. */
export function formatTable(columns: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = [columns, ...cells].map((row) => row.map((cell) => cell.replace(/\s+/g, ' ')));
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => displayWidth(row[index] ?? ''))));
  return rows.map((row) => formatRow(row, widths)).join('\n');
}

/** A longer name does not widen the column for all other names. */
const MAX_NAME_WIDTH = 60;

/** Names and values in two columns. */
export function formatFields(fields: readonly { readonly name: string; readonly value: string }[]): string {
  const width = Math.min(MAX_NAME_WIDTH, Math.max(0, ...fields.map(({ name }) => displayWidth(name))));
  return fields.map(({ name, value }) => `${pad(name, width)}  ${indent(value, width + 2)}`.trimEnd()).join('\n');
}

function formatRow(row: readonly string[], widths: readonly number[]): string {
  return widths
    .map((width, index) => pad(row[index] ?? '', width))
    .join('  ')
    .trimEnd();
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function indent(text: string, columns: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(columns)}`);
}

const PLAIN = /^[ -~]*$/;
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\u{fe0f}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\u{3000}-\u{303f}\u{ff01}-\u{ff60}\u{ffe0}-\u{ffe6}])/u;

/** Width in terminal cells: Chinese, Japanese, Korean and emoji take two, combining marks none. */
function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
