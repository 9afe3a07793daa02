import { displayWidth, leastWidth } from './cells.ts';
import { wrap } from './wrap.ts';

type Cells = readonly string[];

const GAP = 2;

/**
 * Formats columns, two spaces apart, padded by their width in a terminal; the last column is not padded. In a screen of
 * `width` cells the longer texts wrap within their column. If the words are too long for that, each row becomes a list
 * of its columns.
 */
export function formatTable(columns: Cells, cells: readonly Cells[], width = Number.POSITIVE_INFINITY): string {
  const rows = [columns, ...cells].map((row) => row.map((cell) => cell.replace(/\s+/g, ' ')));
  const widths = fitted(columns.length, rows, width);
  if (widths !== null) return rows.flatMap((row) => formatRow(row, widths)).join('\n');
  return rows
    .slice(1)
    .map((row) => formatFields(fieldsOf(rows[0] ?? [], row), width))
    .join('\n\n');
}

/** A column without a name holds what the row is called, such as its number. */
function fieldsOf(names: Cells, row: Cells): readonly Field[] {
  const fields = names.map((name, index) => ({ name, value: row[index] ?? '' }));
  return fields
    .filter(({ value }) => value !== '')
    .map(({ name, value }) => (name === '' ? { name: value, value: '' } : { name, value }));
}

/** The width of each column; null if the longest words do not fit side by side. */
function fitted(count: number, rows: readonly Cells[], width: number): readonly number[] | null {
  const widest = (measure: (cell: string) => number) =>
    Array.from({ length: count }, (_, index) => largest(rows.map((row) => measure(row[index] ?? ''))));
  const whole = widest(displayWidth);
  const room = width - GAP * (count - 1);
  if (sum(whole) <= room) return whole;
  const least = widest(leastWidth);
  return sum(least) > room ? null : shared(whole, least, room);
}

/** Every column gets its longest word, and the rest of the room goes to those that need more, in equal parts. */
function shared(whole: readonly number[], least: readonly number[], room: number): readonly number[] {
  const widths = [...least];
  for (let left = room - sum(least); left > 0; left -= 1) {
    const needy = widths.map((own, index) => ({ own, index })).filter(({ own, index }) => own < (whole[index] ?? 0));
    const [narrowest] = needy.toSorted((a, b) => a.own - b.own);
    if (narrowest === undefined) break;
    widths[narrowest.index] = narrowest.own + 1;
  }
  return widths;
}

const largest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function formatRow(row: Cells, widths: readonly number[]): readonly string[] {
  const parts = widths.map((width, index) => linesOf(row[index] ?? '', width));
  const height = largest(parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, index) => pad(parts[index]?.[line] ?? '', width))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

interface Field {
  readonly name: string;
  readonly value: string;
}

/** A longer name does not widen the column for all other names. */
const MAX_NAME_WIDTH = 60;
/** Share of a screen that names may take; a longer one has its value below it. */
const NAME_SHARE = 0.45;
/** Values in a narrower column would be hard to read. */
const MIN_VALUE_WIDTH = 16;

/** Names and values in two columns. In a screen of `width` cells, values wrap within their column. */
export function formatFields(fields: readonly Field[], width = Number.POSITIVE_INFINITY): string {
  const most = Math.min(MAX_NAME_WIDTH, Math.floor(width * NAME_SHARE));
  const names = fields.map(({ name }) => displayWidth(name)).filter((own) => own <= most);
  const column = largest(names);
  const isNarrow = width - column - GAP < MIN_VALUE_WIDTH;
  const indent = isNarrow ? GAP : column + GAP;
  return fields
    .flatMap(({ name, value }) => {
      const lines = value === '' ? [] : linesOf(value, width - indent);
      const isBeside = !isNarrow && (width === Number.POSITIVE_INFINITY || displayWidth(name) <= column);
      if (isBeside) return [`${pad(name, column + GAP)}${lines[0] ?? ''}`, ...lines.slice(1).map(indented(indent))];
      return [...linesOf(name, width), ...lines.map(indented(indent))];
    })
    .map((line) => line.trimEnd())
    .join('\n');
}

function indented(cells: number): (line: string) => string {
  return (line) => ' '.repeat(cells) + line;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function linesOf(text: string, width: number): readonly string[] {
  return wrap(text, width).split('\n');
}
