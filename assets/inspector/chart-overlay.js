/** Thresholds, the chosen moment, marks and layers, drawn over the canvas so that they are links and have titles. */

import { DIGIT, isNarrow, ROW } from './chart-drawing.js';

const TIERS = ['background', 'aggressive', 'emergency'];
const BOX = 20;

export function drawOverlay(chart) {
  const { overlay, u, plot } = chart;
  const frame = frameOf(u);
  set(overlay, {
    class: 'overlay',
    width: u.width,
    height: u.height,
    role: 'group',
    'aria-label': 'Events and layers',
  });
  overlay.replaceChildren(
    ...thresholdLines(plot, { frame, isInside: isNarrow(chart) }),
    ...chosenMark(plot, frame),
    ...plot.rows.flatMap((row, index) => rowMarks(row, { frame, top: frame.bottom + index * ROW })),
  );
}

function frameOf(u) {
  const { offsetLeft: left, offsetTop: top, clientWidth: width, clientHeight: height } = u.over;
  const place = (value) => left + u.valToPos(value, 'x');
  return { left, top, right: left + width, bottom: top + height, x: place, y: (value) => top + u.valToPos(value, 'y') };
}

function shape(name, attributes, ...children) {
  const element = set(document.createElementNS('http://www.w3.org/2000/svg', name), attributes);
  element.append(...children);
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Labels move apart where thresholds lie close together. */
function thresholdLines({ thresholds }, { frame, isInside }) {
  if (thresholds === null) return [];
  let below = Number.POSITIVE_INFINITY;
  return TIERS.flatMap((tier) => {
    const y = frame.y(thresholds[tier]);
    below = Math.min(isInside ? y - 3 : y + 4, below - 13);
    const line = shape('line', { class: `tick t-${tier}`, x1: frame.left, x2: frame.right, y1: y, y2: y });
    const place = isInside ? { class: 'end inside', x: frame.right - 4 } : { x: frame.right + 6 };
    return [line, shape('text', { ...place, y: below }, tier)];
  });
}

function chosenMark({ chosen }, { left, right, top, bottom, x }) {
  if (chosen === null) return [];
  const [from, to] = [Math.max(left, x(chosen[0])), Math.min(right, x(chosen[1]))];
  if (to < from) return [];
  return [shape('rect', { class: 'chosen', x: from, y: top, width: Math.max(1, to - from), height: bottom - top })];
}

/** The visible items of a row. */
function rowMarks([name, path, items], { frame, top }) {
  const label = shape('text', { class: 'end', x: frame.left - 6, y: top + 16 }, name);
  const shown = items.flatMap(([from, to, style, text, id, size = 1]) => {
    const [left, right] = [Math.max(frame.left, frame.x(from)), Math.min(frame.right, frame.x(to))];
    if (right < left) return [];
    const place = { left, right, top, range: `#${Math.ceil(from)}–#${Math.floor(to)}` };
    const parts = style.startsWith('layer') ? box(style, place) : [mark(style, { ...place, size })];
    const title = shape('title', {}, text === '' ? place.range : text);
    if (id === null) return [shape('g', { class: 'item' }, title, ...parts)];
    return [shape('a', { class: 'item', href: `${path}${id}` }, title, ...parts)];
  });
  return [label, ...shown];
}

function box(style, { left, right, top, range }) {
  const width = Math.max(2, right - left - 1);
  const rect = shape('rect', { class: style, x: left, y: top + 2, width, height: BOX, rx: 3 });
  if (width <= range.length * DIGIT + 8) return [rect];
  const pale = style.includes('pale') ? ' pale' : '';
  return [rect, shape('text', { class: `mid on-layer${pale}`, x: left + width / 2, y: top + 16 }, range)];
}

function mark(style, { left, right, top, size }) {
  const middle = (left + right) / 2;
  if (style.startsWith('expired')) return shape('circle', { class: style, cx: middle, cy: top + 10, r: 3.5 });
  if (!style.startsWith('work')) return shape('path', { class: style, d: `M${middle} ${top + 4}l5 10h-10z` });
  const height = Math.max(5, size * (ROW - 6));
  return shape('rect', { class: style, x: middle - 2, y: top + ROW - 3 - height, width: 4, height });
}
