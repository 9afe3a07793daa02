import { formatDollars, formatNumber, formatPercent } from '../../../../src/adapter-kit.ts';
import { html, type Markup, nothing } from '../markup/html.ts';
import { round } from './gauge.ts';
import { nameOf, type Plot, plotData, type Series, TIERS } from './plot.ts';
import { type Frame, plotRows, ROW } from './plot-rows.ts';

const TOP = 8;
const AXIS = 20;

function frameOf({ unit, width, height, range: [from, to], most, thresholds }: Plot): Frame {
  const left = unit === 'share' ? 64 : 84;
  const right = width - (thresholds === null ? 12 : 84);
  return {
    left,
    right,
    height,
    x: (value) => round(left + ((value - from) / (to - from)) * (right - left)),
    y: (value) => round(TOP + (1 - Math.min(1, value / most)) * (height - TOP)),
  };
}

interface FigureOptions {
  /** Legend entries for marks that belong to no series. */
  readonly keys?: Markup;
  /** If false, the page contains only the data, and a script draws the chart. */
  readonly isDrawn: boolean;
}

/** A chart with its legend. The script replaces the drawing with one that can be zoomed. */
export function plotFigure(plot: Plot, { keys = nothing, isDrawn }: FigureOptions): Markup {
  const legend = plot.series.map(
    ({ key, name, kind }, index) =>
      html`<li data-series="${index}"><span class="swatch ${kind === 'stacked' ? 'l' : 'key'}-${key}"></span>${name}</li>`,
  );
  const shownLegend = plot.series.length < 2 ? nothing : html`<ul class="legend">${legend}${keys}</ul>`;
  return html`<figure class="chart">${isDrawn ? drawing(plot) : html`<div class="drawing"></div>`}${plotData(plot, { withTexts: !isDrawn })}<figcaption class="dim small" data-readout>${plot.caption}</figcaption>${shownLegend}</figure>`;
}

function drawing(plot: Plot): Markup {
  const { width, height, thresholds, rows, label } = plot;
  const frame = frameOf(plot);
  const whole = height + rows.length * ROW + AXIS;
  return html`<div class="drawing"><svg viewBox="0 0 ${width} ${whole}" role="group" aria-label="${label}">
    ${shareAxis(plot, frame)}${seriesOf(plot, frame)}${thresholds === null ? nothing : thresholdLines(thresholds, frame)}
    ${chosenMark(plot, frame)}${plotRows(plot, frame)}${hotspots(plot, frame)}${pointAxis(plot, { frame, at: whole - 4 })}
  </svg></div>`;
}

function shareAxis({ unit, most }: Plot, { left, right, y }: Frame): Markup {
  const textOf = { share: formatPercent, dollars: formatDollars, tokens: formatNumber }[unit];
  const lines = [0, most / 2, most].map(
    (value) =>
      html`<line class="grid" x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/><text x="${left - 6}" y="${round(y(value) + 4)}" class="end">${textOf(value)}</text>`,
  );
  return html`${lines}`;
}

/** Labels move apart where thresholds lie close together. */
function thresholdLines(thresholds: NonNullable<Plot['thresholds']>, { left, right, y }: Frame): Markup {
  let below = Number.POSITIVE_INFINITY;
  const lines = TIERS.map((tier) => {
    const at = y(thresholds[tier]);
    below = Math.min(at + 4, below - 13);
    return html`<line class="tick t-${tier}" x1="${left}" x2="${right}" y1="${at}" y2="${at}"/><text x="${right + 6}" y="${below}">${tier}</text>`;
  });
  return html`${lines}`;
}

function seriesOf(plot: Plot, frame: Frame): Markup {
  const below = plot.points.map(() => 0);
  const paths = plot.series.map(({ key, kind, values }) => {
    if (kind === 'stacked') return html`<path class="l-${key}" d="${barsOf(values, { plot, frame, below })}"/>`;
    if (kind === 'level') return html`<path class="${key}" d="${levelsOf(values, { plot, frame })}"/>`;
    return lineOf({ key, kind, values }, { plot, frame });
  });
  return html`${paths}`;
}

interface Drawing {
  readonly plot: Plot;
  readonly frame: Frame;
}

/** One path for all bars of a series, which keeps the page small. Raises `below` by their values. */
function barsOf(values: Series['values'], { plot, frame, below }: Drawing & { readonly below: number[] }): string {
  const { y } = frame;
  const parts = values.map((value, index) => {
    const from = below[index] ?? 0;
    const to = from + (value ?? 0);
    below[index] = to;
    if (to <= from) return '';
    const { x, width } = barAt(index, { plot, frame });
    // Even the smallest amount is visible.
    return `M${x} ${y(from)}h${width}V${Math.min(y(to), round(y(from) - (from === 0 ? 1 : 0)))}h-${width}z`;
  });
  return parts.join('');
}

const MAX_GAP = 4;

/** Wide bars have gaps between them. */
function barAt(index: number, { plot, frame }: Drawing): { readonly x: number; readonly width: number } {
  const [from, to] = [frame.x(plot.edges[index] ?? 0), frame.x(plot.edges[index + 1] ?? 0)];
  return { x: from, width: round(Math.max(1, to - from - Math.min(MAX_GAP, (to - from) / 5))) };
}

function levelsOf(values: Series['values'], { plot, frame }: Drawing): string {
  const parts = values.map((value, index) => {
    if (value === null || value === 0) return '';
    const { x, width } = barAt(index, { plot, frame });
    return `M${x} ${frame.y(value)}h${width}`;
  });
  return parts.join('');
}

function lineOf({ key, kind, values }: Omit<Series, 'name'>, { plot: { edges }, frame: { x, y } }: Drawing): Markup {
  const points = values.flatMap((value, index) => (value === null ? [] : [{ x: x(edges[index] ?? 0), y: y(value) }]));
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return nothing;
  const line = `M${points.map((point) => `${point.x} ${point.y}`).join('L')}`;
  const area =
    kind === 'area' ? html`<path class="${key}-area" d="${line}L${last.x} ${y(0)}L${first.x} ${y(0)}Z"/>` : '';
  return html`${area}<path class="${key}" d="${line}"/>`;
}

function chosenMark({ chosen }: Plot, { x, height }: Frame): Markup {
  if (chosen === null) return nothing;
  const [from, to] = [x(chosen[0]), x(chosen[1])];
  return html`<rect class="chosen" x="${from}" y="4" width="${round(Math.max(1, to - from))}" height="${height - 3}"/>`;
}

/** An invisible link over each point: its title shows the figures, and a click opens that moment. */
function hotspots({ edges, points, texts, opens }: Plot, { x, height }: Frame): Markup {
  const spots = points.map((point, index) => {
    const from = x(edges[index] ?? 0);
    const width = round(Math.max(2, x(edges[index + 1] ?? 0) - from));
    const spot = html`<title>${texts[index]}</title><rect class="hot" x="${from}" width="${width}" height="${height}"/>`;
    return opens ? html`<a href="?at=${point}" tabindex="-1">${spot}</a>` : html`<g>${spot}</g>`;
  });
  return html`${spots}`;
}

const STEPS = [0, 0.25, 0.5, 0.75, 1];
const ROOM_FOR_STEPS = 600;
const ROOM_FOR_TWO = 200;
const MIN_FOR_STEPS = 8;

/** The names of the first and last point, and of some between them if there is room. */
function pointAxis(plot: Plot, { frame, at }: { readonly frame: Frame; readonly at: number }): Markup {
  const { points, edges } = plot;
  const [left, right] = [frame.x(edges[0] ?? 0), frame.x(edges.at(-1) ?? 0)];
  const room = right - left;
  const few = points.length < MIN_FOR_STEPS || room < ROOM_FOR_STEPS;
  const steps = room < ROOM_FOR_TWO ? [0] : few ? [0, 1] : STEPS;
  const labels = steps.map((share) => {
    const anchor = share === 0 ? '' : share === 1 ? 'end' : 'mid';
    const name = nameAt(plot, share);
    return html`<text x="${round(left + share * room)}" y="${at}" class="${anchor}">${share === 0 && name.startsWith('#') ? 'message ' : ''}${name}</text>`;
  });
  return html`${labels}`;
}

function nameAt({ points, range: [from, to], axis }: Plot, share: number): string {
  if (axis === 'points') return nameOf(points[Math.round(share * (points.length - 1))] ?? '');
  return `#${Math.round(Math.ceil(from) + share * (Math.floor(to) - Math.ceil(from)))}`;
}
