import type { Measurement, Thresholds } from '../ports/engine.ts';
import type { ReplyPicture } from '../ports/reply.ts';
import { formatNumber, formatPercent } from '../util/text/text.ts';
import { type Canvas, createCanvas, textWidth } from './canvas.ts';
import { encodePng } from './png.ts';

export interface ContextFigures {
  readonly measurement: Measurement;
  readonly thresholds: Thresholds;
  /** The view after some of the messages, oldest first. */
  readonly moments: readonly PastView[];
}

export interface PastView extends Readonly<Record<'seq' | 'fixed' | 'stack' | 'tail' | 'reserve' | 'used', number>> {}

const PAPER = '#ffffff';
const INK = '#1b1e26';
const DIM = '#5c6370';
const FREE = '#e8eaef';
const ALERT = '#c23b34';
/** The colours of the regions, as in the inspector. */
const COLORS = {
  fixed: '#64708a',
  stack: '#7a4fc9',
  tail: '#0c7f83',
  recalled: '#b36a00',
  reserve: '#b9c0cc',
} as const;
const PALETTE = [PAPER, INK, DIM, FREE, ALERT, ...Object.values(COLORS)];

const WIDTH = 720;
const HEIGHT = 420;
const MARGIN = 24;
const INNER = WIDTH - 2 * MARGIN;
const GAUGE = { y: 64, height: 36 };
const CHART = { y: 214, height: 164 };
const PER_ROW = 3;
const NAMES = {
  fixed: 'fixed',
  stack: 'summaries',
  tail: 'messages',
  recalled: 'recalled',
  reserve: 'answer',
} as const;

/** The gauge of the window, and how it filled and emptied, as a PNG that is also described in words. */
export function contextPicture(figures: ContextFigures): ReplyPicture {
  const canvas = createCanvas({ width: WIDTH, height: HEIGHT }, { palette: PALETTE, paper: PAPER });
  const { measurement } = figures;
  canvas.write({ x: MARGIN, y: 22, text: titleOf(measurement), scale: 3 }, INK);
  const tier = measurement.tier === 'none' ? '' : measurement.tier;
  canvas.write({ x: WIDTH - MARGIN - textWidth(tier, 2), y: 26, text: tier, scale: 2 }, ALERT);
  drawGauge(canvas, figures);
  drawLegend(canvas, measurement);
  drawHistory(canvas, figures);
  const base64 = encodePng(canvas.pixels()).toString('base64');
  return { name: 'context.png', mediaType: 'image/png', base64, description: describeFigures(figures) };
}

type Region = keyof typeof COLORS;

function regionsOf({ fixed, stack, tail, volatile, reserve }: Measurement): readonly (readonly [Region, number])[] {
  return [
    ['fixed', fixed],
    ['stack', stack],
    ['tail', tail],
    ['recalled', volatile],
    ['reserve', reserve],
  ];
}

function titleOf({ ratio, window, estimated }: Measurement): string {
  return `${estimated ? '~' : ''}${formatPercent(ratio)} of ${formatNumber(window)} tokens`;
}

function drawGauge(canvas: Canvas, { measurement, thresholds }: ContextFigures): void {
  canvas.fill({ x: MARGIN, width: INNER, ...GAUGE }, FREE);
  let x = MARGIN;
  for (const [region, tokens] of regionsOf(measurement)) {
    const width = (tokens / Math.max(1, measurement.window)) * INNER;
    canvas.fill({ x, width, ...GAUGE }, COLORS[region]);
    x += width;
  }
  for (const share of sharesOf(thresholds)) {
    const tick = { x: MARGIN + share * INNER - 1, y: GAUGE.y - 6, width: 3, height: GAUGE.height + 12 };
    canvas.fill(tick, share === thresholds.emergency ? ALERT : INK);
  }
}

function sharesOf({ background, aggressive, emergency }: Thresholds): readonly number[] {
  return [background, aggressive, emergency];
}

function drawLegend(canvas: Canvas, measurement: Measurement): void {
  const free = Math.max(0, measurement.window - measurement.used);
  const entries = [
    ...regionsOf(measurement).map(([region, tokens]) => [COLORS[region], NAMES[region], tokens] as const),
    [FREE, 'free', free] as const,
  ];
  for (const [index, [color, name, tokens]] of entries.entries()) {
    const x = MARGIN + (index % PER_ROW) * (INNER / PER_ROW);
    const y = 124 + Math.floor(index / PER_ROW) * 26;
    canvas.fill({ x, y, width: 14, height: 14 }, color);
    canvas.write({ x: x + 22, y, text: `${name} ${shortNumber(tokens)}`, scale: 2 }, DIM);
  }
}

/** At most five characters. */
function shortNumber(tokens: number): string {
  if (tokens < 10_000) return formatNumber(tokens);
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1_000_000).toFixed(1)}m`;
}

function drawHistory(canvas: Canvas, { measurement, thresholds, moments }: ContextFigures): void {
  canvas.write({ x: MARGIN, y: CHART.y - 24, text: 'The window after each message', scale: 2 }, INK);
  const bottom = CHART.y + CHART.height;
  const step = INNER / Math.max(1, moments.length);
  for (const [index, moment] of moments.entries()) {
    let y = bottom;
    for (const region of ['fixed', 'stack', 'tail', 'reserve'] as const) {
      const height = (moment[region] / Math.max(1, measurement.window)) * CHART.height;
      const x = MARGIN + index * step;
      canvas.fill({ x, y: y - height, width: step > 4 ? step - 1 : step, height }, COLORS[region]);
      y -= height;
    }
  }
  canvas.fill({ x: MARGIN, y: bottom, width: INNER, height: 2 }, DIM);
  for (const share of sharesOf(thresholds))
    drawDashes(canvas, bottom - share * CHART.height, share === thresholds.emergency);
  const [first, last] = [`#${moments[0]?.seq ?? 0}`, `#${moments.at(-1)?.seq ?? 0}`];
  canvas.write({ x: MARGIN, y: bottom + 10, text: first, scale: 2 }, DIM);
  canvas.write({ x: WIDTH - MARGIN - textWidth(last, 2), y: bottom + 10, text: last, scale: 2 }, DIM);
}

function drawDashes(canvas: Canvas, y: number, isAlert: boolean): void {
  for (let x = MARGIN; x < WIDTH - MARGIN; x += 12) canvas.fill({ x, y, width: 6, height: 1 }, isAlert ? ALERT : INK);
}

/** The same in words. */
function describeFigures({ measurement, thresholds, moments }: ContextFigures): string {
  const { window, tier } = measurement;
  const parts = regionsOf(measurement).map(([region, tokens]) => `${NAMES[region]} ${formatNumber(tokens)}`);
  const due = sharesOf(thresholds).map(formatPercent);
  const shares = moments.map(({ used }) => used / Math.max(1, window));
  const past =
    shares.length === 0
      ? ''
      : ` From message #${moments[0]?.seq} to #${moments.at(-1)?.seq} it was between ${formatPercent(shares.reduce((a, b) => Math.min(a, b)))} and ${formatPercent(shares.reduce((a, b) => Math.max(a, b)))}.`;
  return `${titleOf(measurement)}${tier === 'none' ? '' : `, tier ${tier}`}: ${parts.join(', ')}. Thresholds at ${due.join(', ')}.${past}`;
}
