import { type Figure, holds, type RowResult } from './figure.ts';
import { formatTable } from './table.ts';

export interface Section extends RowResult {
  readonly name: string;
  readonly title: string;
}

interface Run {
  readonly machine: string;
  readonly quick: boolean;
  /** Names of rows that failed. */
  readonly failed: readonly string[];
}

/** The figures of a run as a page of the documentation, which is also readable in a terminal. */
export function formatPage(sections: readonly Section[], { machine, quick, failed }: Run): string {
  const kind = quick ? 'This is a quick run with fewer rounds; the bars apply to a whole run. ' : '';
  const judged = verdict(sections.flatMap(({ figures }) => figures));
  const missing = failed.length === 0 ? '' : ` Not measured, because they failed: ${failed.join(', ')}.`;
  return ['# Benchmarks', INTRODUCTION, `${kind}${machine}. ${judged}${missing}`, ...sections.map(formatSection)].join(
    '\n\n',
  );
}

const INTRODUCTION = `\`npm run -s bench > docs/benchmarks.md\` measures every figure and its baseline in the same run and writes this page.
\`npm run bench -- --quick\` runs a shorter version, and row names (\`npm run bench -- latency recall\`) select rows. Figures are
ratios within one run wherever a noisy machine allows no other. Rows that need Redis or Postgres start their own.`;

function verdict(figures: readonly Figure[]): string {
  const judged = figures.filter(({ bar }) => bar !== null);
  const missed = judged.filter((figure) => holds(figure) === false).map(({ figure }) => figure);
  if (missed.length === 0) return `All ${judged.length} bars hold.`;
  return `${judged.length - missed.length} of ${judged.length} bars hold; missed: ${missed.join('; ')}.`;
}

function formatSection({ name, title, figures, tables = [], notes }: Section): string {
  const shown = figures.length === 0 ? [] : [formatTable(figures)];
  return [`## ${title} (\`${name}\`)`, ...shown, ...tables, ...notes].join('\n\n');
}
