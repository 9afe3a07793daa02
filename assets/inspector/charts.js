/** Draws the charts of the page with uPlot, from the data beside the server's drawings. */

import { chartData, chartOptions, drawOrder, readColors } from './chart-drawing.js';
import { refineLater } from './chart-finer.js';
import { drawOverlay } from './chart-overlay.js';
import { isZoomed, moveByKey, revealShown, zoomTo } from './chart-zoom.js';

const charts = new Set();

setUpCharts(document);
document.addEventListener('redrawn', ({ target }) => setUpCharts(target));
for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
  matchMedia(query).addEventListener('change', recolor);
new MutationObserver(recolor).observe(document.documentElement, { attributeFilter: ['data-theme'] });

function setUpCharts(root) {
  // Without the library, the page keeps the server's drawings.
  if (typeof uPlot === 'undefined') return;
  const gone = [...charts].filter(({ figure }) => !figure.isConnected);
  for (const chart of gone) closeChart(chart);
  for (const figure of root.querySelectorAll('figure.chart:has([data-plot])'))
    charts.add(openChart(figure, gone.shift()));
}

function recolor() {
  for (const { u, figure, colors } of charts) {
    Object.assign(colors, readColors(figure));
    u.redraw(false);
  }
}

/** Keeps the zoom and the hidden series of the chart that it replaces. */
function openChart(figure, before) {
  const place = figure.querySelector('.drawing');
  const plot = readPlot(figure);
  const chart = { figure, place, plot, hidden: before?.hidden ?? new Set(), shown: -1, colors: readColors(figure) };
  chart.whole = { ...plot };
  place.replaceChildren();
  place.classList.add('drawn');
  addParts(chart);
  chart.u = new uPlot(chartOptions(chart, hooksOf(chart)), chartData(chart), place);
  // The element for keys has the same description.
  chart.u.root.setAttribute('aria-hidden', 'true');
  chart.u.over.append(chart.hot);
  place.append(chart.overlay, chart.keys);
  place.after(chart.reset);
  const { min, max } = before !== undefined && isZoomed(before) ? before.u.scales.x : {};
  zoomTo(chart, { min: min ?? plot.range[0], max: max ?? plot.range[1] });
  addSwitches(chart);
  listen(chart);
  show(chart, -1);
  chart.resizing = new ResizeObserver(() => resize(chart));
  chart.resizing.observe(place);
  return chart;
}

function closeChart(chart) {
  charts.delete(chart);
  chart.resizing.disconnect();
  chart.u.destroy();
}

function readPlot(figure) {
  const plot = JSON.parse(figure.querySelector('[data-plot]').textContent);
  plot.texts ??= [...figure.querySelectorAll('title:has(+ .hot)')].map(({ textContent }) => textContent);
  return plot;
}

function hooksOf(chart) {
  return {
    setCursor: [() => followPointer(chart)],
    setScale: [() => refineLater(chart, (message) => redraw(chart, message))],
    draw: [() => placeParts(chart)],
  };
}

/** With other points. */
function redraw(chart, message) {
  const { u, keys, plot } = chart;
  chart.shown = -1;
  u.setData(chartData(chart), false);
  u.redraw();
  keys.setAttribute('aria-valuemax', plot.points.length);
  show(chart, indexOf(plot, message));
}

/** The parts over the canvas: the link of the shown bar, marks and layers, the element for keys, and the button. */
function addParts(chart) {
  const { figure, plot } = chart;
  chart.readout = figure.querySelector('[data-readout]');
  chart.about = `${chart.readout.textContent} Point at the chart or use the arrow keys to see the figures; drag to zoom in, double-click to zoom out.`;
  chart.hot = make('a', { class: 'hot', tabindex: -1, draggable: 'false' });
  chart.overlay = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  chart.keys = make('div', { class: 'keys-here', role: 'slider', tabindex: 0, 'aria-label': plot.label });
  chart.keys.setAttribute('aria-valuemin', 1);
  chart.keys.setAttribute('aria-valuemax', plot.points.length);
  chart.reset = make('button', { class: 'reset', type: 'button', hidden: '' });
  chart.reset.textContent = 'Show all';
}

function make(name, attributes) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Turns the names of the legend into buttons. A series without one is shown, even if it was hidden before. */
function addSwitches(chart) {
  const { figure, plot, hidden, u } = chart;
  for (const item of figure.querySelectorAll('[data-series]')) {
    const index = Number(item.dataset.series);
    const { key } = plot.series[index];
    const place = drawOrder(plot).indexOf(index) + 1;
    const button = make('button', { type: 'button', 'aria-pressed': String(!hidden.has(key)) });
    button.append(...item.childNodes);
    item.replaceChildren(button);
    if (hidden.has(key)) u.setSeries(place, { show: false });
    button.addEventListener('click', () => {
      const isShown = hidden.delete(key);
      if (!isShown) hidden.add(key);
      button.setAttribute('aria-pressed', String(isShown));
      u.setSeries(place, { show: isShown });
      u.setData(chartData(chart), false);
      u.redraw();
    });
  }
}

function listen(chart) {
  const { keys, reset, overlay, u, plot, hot } = chart;
  const all = () => zoomTo(chart, { min: plot.range[0], max: plot.range[1] });
  keys.addEventListener('focus', () => chart.shown < 0 && show(chart, plot.points.length - 1));
  keys.addEventListener('blur', () => show(chart, -1));
  keys.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && hot.href !== '') location.assign(hot.href);
    else if (event.key === 'Escape') all();
    else moveByKey(chart, event, (index) => show(chart, index));
  });
  reset.addEventListener('click', all);
  u.over.addEventListener('dblclick', () => {
    clearTimeout(chart.later);
    all();
  });
  overlay.addEventListener('pointerover', ({ target }) => {
    const own = target.closest('.item')?.querySelector('title');
    if (own) chart.readout.textContent = own.textContent;
  });
  overlay.addEventListener('pointerout', () => tell(chart));
  listenForClicks(chart);
}

const DOUBLE_CLICK_MS = 300;
const MAX_CLICK_PX = 4;

/** The end of a drag opens no link. In a zoomed chart, a click waits, because a double click zooms out. */
function listenForClicks(chart) {
  let downAt = 0;
  chart.u.over.addEventListener('pointerdown', ({ clientX }) => {
    downAt = clientX;
  });
  chart.hot.addEventListener('click', (event) => {
    const isOwn = event.ctrlKey || event.metaKey || event.shiftKey;
    const isDrag = Math.abs(event.clientX - downAt) > MAX_CLICK_PX;
    if (isDrag || (isZoomed(chart) && !isOwn)) event.preventDefault();
    if (isDrag || isOwn || !isZoomed(chart) || chart.hot.href === '') return;
    clearTimeout(chart.later);
    chart.later = setTimeout(() => location.assign(chart.hot.href), DOUBLE_CLICK_MS);
  });
}

function followPointer(chart) {
  const { u, plot, keys } = chart;
  const { left } = u.cursor;
  const at = u.posToVal(left, 'x');
  // With few bars, the right part of a chart is empty.
  if (left < 0 || at > plot.edges.at(-1)) {
    if (document.activeElement !== keys) show(chart, -1);
    return;
  }
  show(chart, plot.style === 'lines' ? u.posToIdx(left) : barAt(plot, at));
}

function barAt({ points, edges }, at) {
  return Math.min(
    points.length - 1,
    edges.findLastIndex((edge) => edge <= at),
  );
}

/** Shows a point here, and the same message in the other charts of the page. */
function show(chart, index) {
  if (!charts.has(chart) && index >= 0) return;
  mark(chart, index);
  const message = chart.plot.points[index];
  for (const peer of charts) {
    if (peer !== chart && document.activeElement !== peer.keys) mark(peer, indexOf(peer.plot, message));
  }
}

function indexOf(plot, message) {
  const { points, axis } = plot;
  if (typeof message !== 'number' || typeof points[0] !== 'number') return -1;
  return axis === 'points' ? points.findLastIndex((point) => point <= message) : barAt(plot, message);
}

function mark(chart, index) {
  const { plot, keys, hot } = chart;
  chart.shown = index;
  const told = index < 0 ? plot.points.length - 1 : index;
  keys.setAttribute('aria-valuenow', told + 1);
  keys.setAttribute('aria-valuetext', plot.texts[told]);
  if (plot.opens && index >= 0) hot.href = `?at=${plot.points[index]}`;
  placeShown(chart);
  tell(chart);
}

function tell({ plot, shown, readout, about }) {
  readout.textContent = plot.texts[shown] ?? about;
}

/** Limits the link to the visible part of the chart, so that it covers no axis. */
function placeShown(chart) {
  const { plot, u, hot, shown } = chart;
  if (plot.style === 'lines') placeCursor(chart);
  const [from, to] = [u.valToPos(plot.edges[shown] ?? 0, 'x'), u.valToPos(plot.edges[shown + 1] ?? 0, 'x')];
  const [left, right] = [Math.max(0, from), Math.min(u.over.clientWidth, Math.max(to, from + 2))];
  hot.hidden = plot.style === 'lines' || shown < 0 || right <= left;
  hot.style.left = `${left}px`;
  hot.style.width = `${right - left}px`;
}

/** Does nothing if the pointer has already moved the cursor there. */
function placeCursor({ plot: { edges }, u, shown }) {
  const { left } = u.cursor;
  if (shown < 0 ? left < 0 : left >= 0 && u.posToIdx(left) === shown) return;
  u.setCursor({ left: shown < 0 ? -10 : u.valToPos(edges[shown], 'x'), top: shown < 0 ? -10 : 0 }, false);
}

/** Moves the parts over the canvas after each drawing. */
function placeParts(chart) {
  const { u, keys, reset } = chart;
  const { offsetLeft, offsetTop, clientWidth, clientHeight } = u.over;
  Object.assign(keys.style, {
    left: `${offsetLeft}px`,
    top: `${offsetTop}px`,
    width: `${clientWidth}px`,
    height: `${clientHeight}px`,
  });
  drawOverlay(chart);
  placeShown(chart);
  reset.hidden = !isZoomed(chart);
}

function resize(chart) {
  const { width, height } = chartOptions(chart, {});
  if (width === chart.u.width) return;
  chart.u.setSize({ width, height });
  revealShown(chart);
}
