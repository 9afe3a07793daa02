/** Where a chart is zoomed, the server has the points between its own. */

import { isZoomed } from './chart-zoom.js';

const WAIT_MS = 200;

/** Calls `changed` with the message that was shown before, once the chart has other points. */
export function refineLater(chart, changed) {
  if (chart.whole.finer === undefined) return;
  clearTimeout(chart.refining);
  // Without an answer, the points stay.
  chart.refining = setTimeout(() => void refine(chart, changed).catch(() => undefined), WAIT_MS);
}

async function refine(chart, changed) {
  const { u, plot, whole } = chart;
  const { min, max } = u.scales.x;
  const wanted = isZoomed(chart) ? `&from=${Math.ceil(min)}&to=${Math.floor(max)}` : '';
  if (wanted === (chart.refined ?? '')) return;
  const fresh = wanted === '' ? whole : merged(whole, await pointsAt(`${whole.finer}${wanted}`));
  if (u.scales.x.min !== min || u.scales.x.max !== max) return;
  chart.refined = wanted;
  const message = plot.points[chart.shown];
  const { points, edges, texts, series } = fresh;
  Object.assign(plot, { points, edges, texts, series });
  changed(message);
}

async function pointsAt(address) {
  const response = await fetch(address);
  const answer = document.createElement('template');
  answer.innerHTML = await response.text();
  return JSON.parse(answer.content.querySelector('[data-plot]').textContent);
}

/** The fine points, between the coarse ones around them. */
function merged(whole, fine) {
  if (fine.points.length === 0) return whole;
  const [first, last] = [fine.points[0], fine.points.at(-1)];
  const before = whole.points.findIndex((point) => point >= first);
  const after = whole.points.findLastIndex((point) => point <= last) + 1;
  const join = (outer, inner) => [...outer.slice(0, before), ...inner, ...outer.slice(after)];
  const points = join(whole.points, fine.points);
  return {
    points,
    edges: [points[0] - 0.5, ...points.map((point) => point + 0.5)],
    texts: join(whole.texts, fine.texts),
    series: whole.series.map((one, index) => ({ ...one, values: join(one.values, fine.series[index].values) })),
  };
}
