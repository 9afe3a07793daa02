/** What uPlot needs to draw a plot: its data, series, axes, and the colours of the page. */

const AXIS = 24;
export const ROW = 24;
const NARROW = 620;
export const DIGIT = 7;
const FONT = '12px system-ui, sans-serif';
const COLORS = ['fixed', 'stack', 'recalled', 'tail', 'reserve', 'accent', 'free', 'dim', 'text', 'line'];

/** The current colours, because the variables differ between themes. */
export function readColors(figure) {
  const probe = figure.appendChild(document.createElement('span'));
  // Otherwise, forced colours would replace all of them with the colour of text.
  probe.style.forcedColorAdjust = 'none';
  const colors = COLORS.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colors);
}

/** Draws the highest of the stacked series first, because the lower ones cover its lower part. */
export function drawOrder({ series }) {
  const indexes = [...series.keys()];
  const isStacked = (index) => series[index].kind === 'stacked';
  return [...indexes.filter(isStacked).reverse(), ...indexes.filter((index) => !isStacked(index))];
}

/** Hidden series don't raise the others. */
export function chartData({ plot, hidden }) {
  const { style, edges, points, series } = plot;
  const xs = points.map((_, index) => (style === 'lines' ? edges[index] : (edges[index] + edges[index + 1]) / 2));
  const below = xs.map(() => 0);
  const values = series.map(({ key, kind, values: own }) => {
    if (kind !== 'stacked' || hidden.has(key)) return own;
    return own.map((value, at) => {
      below[at] += value ?? 0;
      return below[at];
    });
  });
  return [xs, ...drawOrder(plot).map((index) => values[index])];
}

export function isNarrow({ place }) {
  return place.clientWidth < NARROW;
}

export function chartOptions(chart, hooks) {
  const { plot, place } = chart;
  const rows = plot.rows.length * ROW;
  return {
    width: Math.max(200, place.clientWidth),
    height: plot.height + rows + AXIS,
    padding: [8, () => (plot.thresholds === null || isNarrow(chart) ? 12 : 84), 0, 0],
    legend: { show: false },
    scales: { x: { time: false }, y: { range: [0, plot.most] } },
    series: [{}, ...drawOrder(plot).map((index) => seriesOptions(chart, plot.series[index]))],
    axes: [pointAxis(chart, rows), valueAxis(chart)],
    cursor: cursorOptions(plot),
    hooks,
  };
}

function cursorOptions({ style }) {
  const take = (_u, _target, handle) => (event) => void handle(event);
  return {
    x: style === 'lines',
    y: false,
    ...(style === 'lines' ? { dataIdx: latestIndex } : { points: { show: false } }),
    drag: { x: true, y: false, dist: 5 },
    // The link over a bar receives the pointer events; `charts.js` listens for double clicks.
    bind: {
      mousedown: (_u, _target, handle) => (event) => void (event.button === 0 && handle(event)),
      mousemove: take,
      dblclick: () => () => undefined,
    },
  };
}

/** The latest point of a line at or before this index, because two forecasts have points at different messages. */
function latestIndex(u, seriesIndex, ...[index]) {
  const latest = u.data[seriesIndex].findLastIndex((value, at) => at <= index && value !== null);
  return latest < 0 ? index : latest;
}

function seriesOptions({ plot, colors }, { key, kind }) {
  const shared = { points: { show: false }, spanGaps: true };
  if (kind === 'stacked') return { ...shared, width: 0, fill: () => colors[key], paths: barPaths(plot, 'fill') };
  if (kind === 'level') return { ...shared, width: 2, stroke: () => colors.text, paths: barPaths(plot, 'stroke') };
  if (kind === 'line') return { ...shared, width: 2.5, stroke: () => colors.accent };
  return { ...shared, width: 1.5, dash: [5, 3], stroke: () => colors.dim, fill: () => colors.free };
}

const MAX_GAP = 4;

/** uPlot's own bars are all equally wide; these reach from edge to edge. */
function barPaths(plot, use) {
  return (u, seriesIndex, ...[first, last]) => {
    const { edges } = plot;
    const path = new Path2D();
    const base = u.valToPos(0, 'y', true);
    for (let index = first; index <= last; index += 1) {
      const value = u.data[seriesIndex][index];
      if (value === null || value === 0) continue;
      const from = Math.round(u.valToPos(edges[index], 'x', true));
      const space = Math.round(u.valToPos(edges[index + 1], 'x', true)) - from;
      const width = Math.max(1, space - Math.min(MAX_GAP * devicePixelRatio, Math.floor(space / 5)));
      const top = Math.min(base - 1, Math.round(u.valToPos(value, 'y', true)));
      if (use === 'fill') path.rect(from, top, width, base - top);
      else {
        path.moveTo(from, top);
        path.lineTo(from + width, top);
      }
    }
    return { [use]: path };
  };
}

const STEPS = [1, 2, 5].flatMap((step) => [1, 10, 100, 1000, 10_000, 100_000].map((unit) => step * unit));

function pointAxis({ plot, colors }, rows) {
  const { axis, points } = plot;
  const counts = axis === 'points';
  const nameOf = (at) => {
    const point = counts ? points[Math.floor(at)] : at;
    return typeof point === 'number' ? `#${point}` : (point ?? '');
  };
  return {
    ...{ font: FONT, stroke: () => colors.dim, grid: { show: false }, ticks: { show: false } },
    size: rows + AXIS,
    gap: rows + 6,
    space: typeof points[0] === 'string' ? 100 : 64,
    incrs: STEPS.toSorted((a, b) => a - b),
    // The name of a bar is below its middle.
    splits: (_u, _axis, ...[min, max, step]) =>
      stepsIn(counts ? min - 0.5 : min, counts ? max - 0.5 : max, step).map((at) => (counts ? at + 0.5 : at)),
    values: (_u, splits) => splits.map(nameOf),
  };
}

function stepsIn(min, max, step) {
  const first = Math.ceil(min / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((max - first) / step) + 1) }, (_, index) => first + index * step);
}

function valueAxis(chart) {
  const { plot, colors } = chart;
  const { unit } = plot;
  return {
    ...{ font: FONT, stroke: () => colors.dim, ticks: { show: false } },
    grid: { stroke: () => colors.line, width: 1 },
    size: (_u, values) =>
      Math.max(unit === 'share' ? 56 : 72, ...(values ?? []).map(({ length }) => length * DIGIT + 12)),
    gap: 6,
    ...(unit === 'share' ? { splits: [0, 0.5, 1] } : {}),
    values: (_u, splits) => splits.map((value) => valueText(value, unit)),
  };
}

function valueText(value, unit) {
  if (unit === 'share') return `${Math.round(value * 100)} %`;
  if (unit === 'tokens') return Math.round(value).toLocaleString('en-US');
  const digits = value >= 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 3 };
  return `$${value.toLocaleString('en-US', digits)}`;
}
