/** The visible part of a chart, and the keys that change it. */

export function isZoomed({ u, plot: { range } }) {
  const { min, max } = u.scales.x;
  return min > range[0] || max < range[1];
}

const MIN_SPAN = 1;

/** Never shows more than the range of the plot. */
export function zoomTo({ u, plot: { range } }, { min, max }) {
  const span = Math.min(Math.max(MIN_SPAN, max - min), range[1] - range[0]);
  const from = Math.min(Math.max(min, range[0]), range[1] - span);
  u.setScale('x', { min: from, max: from + span });
}

/** Moves the visible part if the shown point is outside it. */
export function revealShown(chart) {
  const { u, plot, shown } = chart;
  if (shown < 0) return;
  const { min, max } = u.scales.x;
  const [from, to] = [plot.edges[shown], plot.edges[shown + 1]];
  if (from < min) zoomTo(chart, { min: from, max: from + max - min });
  else if (to > max) zoomTo(chart, { min: to - (max - min), max: to });
}

export function moveByKey(chart, event, show) {
  const { plot, shown } = chart;
  const last = plot.points.length - 1;
  const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: last }[event.key];
  const factor = { '+': 0.5, '=': 0.5, '-': 2 }[event.key];
  if ((to === undefined && factor === undefined) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (factor !== undefined) return zoomBy(chart, factor);
  show(Math.min(last, Math.max(0, to)));
  revealShown(chart);
}

/** Around the shown point. */
function zoomBy(chart, factor) {
  const { u, plot, shown } = chart;
  const { min, max } = u.scales.x;
  const at = shown < 0 ? (min + max) / 2 : (plot.edges[shown] + plot.edges[shown + 1]) / 2;
  zoomTo(chart, { min: at - (at - min) * factor, max: at + (max - at) * factor });
}
