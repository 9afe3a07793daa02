import { type Bar, type Figure, holds, ratioOf, type Unit } from './figure.ts';

const HEAD = ['figure', 'baseline', 'ours', 'ratio', 'bar', ''] as const;

/** The figures as a Markdown table that is also readable in a terminal. */
export function formatTable(figures: readonly Figure[]): string {
  return formatRows([HEAD, ...figures.map(cellsOf)]);
}

/** The first row is the header. */
export function formatRows(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const lines = rows.map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function cellsOf(figure: Figure): readonly string[] {
  const { baseline, ours, unit, bar } = figure;
  const ratio = ratioOf(figure);
  return [
    figure.figure,
    baseline === null ? '' : `${formatValue(baseline.value, unit)} (${baseline.of})`,
    formatValue(ours, unit),
    ratio === null ? '' : ratio.toFixed(ratio < 0.1 ? 4 : 2),
    bar === null ? '' : formatBar(bar, unit),
    verdict(holds(figure)),
  ];
}

function verdict(held: boolean | null): string {
  if (held === null) return '';
  return held ? 'holds' : 'MISSES';
}

const SIGNS: { readonly [Is in Bar['is']]: string } = {
  below: '<',
  'at most': '<=',
  above: '>',
  'at least': '>=',
  exactly: '=',
};

function formatBar({ of, is, value }: Bar, unit: Unit): string {
  return of === 'ratio' ? `ratio ${SIGNS[is]} ${value}` : `${SIGNS[is]} ${formatValue(value, unit)}`;
}

function formatValue(value: number, unit: Unit): string {
  switch (unit) {
    case 'ms':
      return `${value.toFixed(decimals(value))} ms`;
    case 's':
      return `${value.toFixed(1)} s`;
    case 'MB':
      return `${value.toFixed(1)} MB`;
    case 'share':
      return value.toFixed(3);
    case 'bytes':
      return `${Math.round(value)} bytes`;
    case 'a second':
      return `${value.toFixed(value < 100 ? 1 : 0)}/s`;
    case 'count':
      return String(Math.round(value));
    default:
      return unit satisfies never;
  }
}

function decimals(value: number): number {
  if (value < 0.1) return 4;
  return value < 10 ? 2 : 1;
}
