import type { IBufferCell, Terminal } from '@xterm/headless';

/** A terminal's screens as an animated SVG. Without animation, it shows the last screen. */

export interface Frame {
  readonly durationMs: number;
  readonly rows: readonly (readonly Run[])[];
}

/** Neighbouring characters of the same look. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly color: string | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
}

const CHARACTER_WIDTH = 8.4;
const LINE_HEIGHT = 18;
const PADDING = 16;
const TITLE_HEIGHT = 28;
const BACKGROUND = '#16181d';
const FOREGROUND = '#d7dae0';
/** The sixteen colors of a terminal, as its palette numbers them. */
const PALETTE = [
  ...['#3f4451', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'],
  ...['#7f848e', '#ff7b86', '#a9d98b', '#f0cf8e', '#79bdf7', '#d495e8', '#6cc8d3', '#ffffff'],
];

/** The current screen of the terminal, row by row. */
export function screenOf(terminal: Terminal): Frame['rows'] {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) => {
    const line = active.getLine(active.viewportY + row);
    const runs: Run[] = [];
    for (let column = 0; column < terminal.cols; column += 1) {
      const cell = line?.getCell(column);
      if (cell !== undefined && cell.getWidth() > 0) append(runs, column, cell);
    }
    return runs.filter(({ text }) => text.trim() !== '');
  });
}

function append(runs: Run[], column: number, cell: IBufferCell): void {
  const look = {
    color: cell.isFgPalette() ? (PALETTE[cell.getFgColor()] ?? null) : null,
    isBold: cell.isBold() !== 0,
    isDim: cell.isDim() !== 0,
  };
  const text = cell.getChars() || ' ';
  const last = runs.at(-1);
  const isSame = last?.color === look.color && last.isBold === look.isBold && last.isDim === look.isDim;
  if (last !== undefined && isSame) runs[runs.length - 1] = { ...last, text: last.text + text };
  else runs.push({ ...look, column, text });
}

export function renderSvg(frames: readonly Frame[], size: { readonly columns: number; readonly rows: number }): string {
  const width = Math.ceil(size.columns * CHARACTER_WIDTH + 2 * PADDING);
  const height = size.rows * LINE_HEIGHT + TITLE_HEIGHT + 2 * PADDING;
  const totalMs = frames.reduce((sum, { durationMs }) => sum + durationMs, 0);
  let atMs = 0;
  const shown = frames.map((frame, index) => {
    const from = (atMs / totalMs) * 100;
    atMs += frame.durationMs;
    const isLast = index === frames.length - 1;
    return {
      style: keyframes(index, { from, to: (atMs / totalMs) * 100, totalMs, isLast }),
      body: renderFrame(frame, index),
    };
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A conversation with Strata in a terminal">
<style>
text { white-space: pre; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: ${FOREGROUND}; }
g { visibility: hidden; }
${shown.map(({ style }) => style).join('\n')}
@media (prefers-reduced-motion: reduce) { g { animation: none !important; } }
</style>
<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}"/>
${['#ff5f57', '#febc2e', '#28c840'].map((color, index) => `<circle cx="${20 + index * 20}" cy="18" r="6" fill="${color}"/>`).join('')}
${shown.map(({ body }) => body).join('\n')}
</svg>
`;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly totalMs: number;
  readonly isLast: boolean;
}

function keyframes(index: number, { from, to, totalMs, isLast }: Span): string {
  const until = isLast ? '' : ` ${to.toFixed(2)}% { visibility: hidden; }`;
  const steps = `@keyframes f${index} { 0% { visibility: hidden; } ${from.toFixed(2)}% { visibility: visible; }${until} }`;
  const rest = isLast ? ' visibility: visible;' : '';
  return `${steps}\n#f${index} {${rest} animation: f${index} ${totalMs}ms step-end infinite; }`;
}

function renderFrame({ rows }: Frame, index: number): string {
  const lines = rows.flatMap((runs, row) => {
    const y = TITLE_HEIGHT + PADDING + (row + 1) * LINE_HEIGHT - 5;
    return runs.map((run) => {
      const x = (PADDING + run.column * CHARACTER_WIDTH).toFixed(1);
      const length = (run.text.trimEnd().length * CHARACTER_WIDTH).toFixed(1);
      return `<text x="${x}" y="${y}" textLength="${length}"${styleOf(run)}>${escaped(run.text.trimEnd())}</text>`;
    });
  });
  return `<g id="f${index}">${lines.join('')}</g>`;
}

function styleOf({ color, isBold, isDim }: Run): string {
  const rules = [
    ...(color === null ? [] : [`fill:${color}`]),
    ...(isBold ? ['font-weight:bold'] : []),
    ...(isDim ? ['opacity:.6'] : []),
  ];
  return rules.length === 0 ? '' : ` style="${rules.join(';')}"`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
