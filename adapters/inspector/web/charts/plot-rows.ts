import { html, type Markup } from '../markup/html.ts';
import { round } from './gauge.ts';
import type { Item, Plot, Row } from './plot.ts';

/** The position of a plot in its drawing. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly height: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

/** The height of one row. */
export const ROW = 24;
const BOX = 20;
/** Narrower boxes are too small to click. */
const MIN_LINK = 14;
const DIGIT = 7;

interface Place {
  readonly row: Row;
  readonly top: number;
  readonly frame: Frame;
}

/** Events and layers below a plot. */
export function plotRows({ rows, height }: Plot, frame: Frame): Markup {
  const drawn = rows.map((row, index) => {
    const place = { row, frame, top: height + index * ROW };
    const name = html`<text x="${frame.left - 6}" y="${place.top + 16}" class="end">${row.name}</text>`;
    const wide = row.items.filter((item) => !isNarrow(item, frame));
    return html`${row.name === '' ? '' : name}${narrowBoxes(place)}${wide.map((item) => itemMarkup(item, place))}`;
  });
  return html`${drawn}`;
}

function isNarrow(item: Item, frame: Frame): boolean {
  return isBox(item) && widthOf(item, frame) < MIN_LINK;
}

function isBox({ style }: Item): boolean {
  return style.startsWith('layer');
}

function widthOf({ from, to }: Item, { x }: Frame): number {
  return round(Math.max(2, x(to) - x(from) - 1));
}

/** One path for all boxes of a style, to keep the page small. */
function narrowBoxes({ row, top, frame }: Place): Markup {
  const byStyle = Map.groupBy(
    row.items.filter((item) => isNarrow(item, frame)),
    ({ style }) => style,
  );
  const paths = [...byStyle].map(([style, items]) => {
    const boxes = items.map((item) => {
      const width = widthOf(item, frame);
      return `M${frame.x(item.from)} ${top + 2}h${width}v${BOX}h-${width}z`;
    });
    return html`<path class="${style}" d="${boxes.join('')}"/>`;
  });
  return html`${paths}`;
}

function itemMarkup(item: Item, place: Place): Markup {
  const shape = isBox(item) ? box(item, place) : mark(item, place);
  const { id, text } = item;
  if (id === null) return html`<g><title>${text}</title>${shape}</g>`;
  return html`<a href="${place.row.path}${id}"><title>${text}</title>${shape}</a>`;
}

function box(item: Item, { top, frame }: Place): Markup {
  const width = widthOf(item, frame);
  const range = rangeText(item);
  const x = frame.x(item.from);
  const isPale = item.style.includes('pale') ? 'pale' : '';
  const label =
    width > range.length * DIGIT + 8
      ? html`<text x="${round(x + width / 2)}" y="${top + 16}" class="mid on-layer ${isPale}">${range}</text>`
      : '';
  return html`<rect class="${item.style}" x="${x}" y="${top + 2}" width="${width}" height="${BOX}" rx="3"/>${label}`;
}

/** Boxes reach from half a message before their first to half a message after their last one. */
function rangeText({ from, to }: Item): string {
  return `#${Math.ceil(from)}–#${Math.floor(to)}`;
}

function mark({ from, to, style, size = 1 }: Item, { top, frame }: Place): Markup {
  const middle = round((frame.x(from) + frame.x(to)) / 2);
  if (style.startsWith('expired')) return html`<circle class="${style}" cx="${middle}" cy="${top + 10}" r="3.5"/>`;
  if (!style.startsWith('work')) return html`<path class="${style}" d="M${middle} ${top + 4}l5 10h-10z"/>`;
  const height = round(Math.max(5, size * (ROW - 6)));
  return html`<rect class="${style}" x="${round(middle - 2)}" y="${round(top + ROW - 3 - height)}" width="4" height="${height}"/>`;
}
