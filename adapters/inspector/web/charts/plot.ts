import { raw } from 'hono/html';
import type { Gauge } from '../../../../src/adapter-kit.ts';
import type { Markup } from '../markup/html.ts';

/** A chart in numbers. `plot-svg.ts` draws it on the server, and `assets/inspector/charts.js` where scripts run. */
export interface Plot {
  /** The description for screen readers. */
  readonly label: string;
  readonly caption: string;
  readonly unit: 'share' | 'dollars' | 'tokens';
  /** Bars reach from edge to edge; lines have a point at each edge except the last. */
  readonly style: 'bars' | 'lines';
  /** What the x axis counts. */
  readonly axis: 'messages' | 'points';
  /** In the units of the SVG; in pixels if a script draws the chart. */
  readonly height: number;
  readonly width: number;
  /** The range of the x axis. */
  readonly range: readonly [from: number, to: number];
  /** The top of the y axis. */
  readonly most: number;
  /** One more than there are points. */
  readonly edges: readonly number[];
  /** For each point, the number of a message or the name of a day. */
  readonly points: readonly (number | string)[];
  /** The figures of each point in words. */
  readonly texts: readonly string[];
  /** Whether a click on a point opens the moment of its message. */
  readonly opens: boolean;
  /** The range of the chosen moment on the x axis. */
  readonly chosen: readonly [from: number, to: number] | null;
  readonly series: readonly Series[];
  readonly thresholds: Gauge['thresholds'] | null;
  readonly rows: readonly Row[];
  /** The address of the same chart with more points; it takes the range as `from` and `to`. */
  readonly finer?: string;
}

export interface Series {
  /** Selects its colour. */
  readonly key: string;
  readonly name: string;
  /** A level is a short line over each bar. */
  readonly kind: 'stacked' | 'area' | 'line' | 'level';
  readonly values: readonly (number | null)[];
}

/** What happened, below the plot on the same axis. */
export interface Row {
  readonly name: string;
  /** The address of an item without its id. */
  readonly path: string;
  readonly items: readonly Item[];
}

export interface Item {
  readonly from: number;
  readonly to: number;
  /** Its classes. The first one decides its shape: `layer`, `mark`, `broken`, `expired` or `work`. */
  readonly style: string;
  readonly text: string;
  /** Appended to the path of its row; null without an address. */
  readonly id: string | null;
  /** For `work`: its height as a share of the tallest. */
  readonly size?: number;
}

export const TIERS = ['background', 'aggressive', 'emergency'] as const;

/** The share of the window, as precise as a drawing needs. */
export function shareOf(tokens: number, window: number): number {
  return Math.round((tokens / Math.max(1, window)) * 10_000) / 10_000;
}

export function nameOf(point: number | string): string {
  return typeof point === 'number' ? `#${point}` : point;
}

const MAX_TEXTS = 100;

/**
 * The data for the script. Without `withTexts`, the script reads the texts from the SVG beside it. The layers of a full
 * row show their range instead, because the SVG contains few of their texts.
 */
export function plotData({ texts, rows, ...rest }: Plot, { withTexts }: { readonly withTexts: boolean }): Markup {
  const shown = rows.map(({ name, path, items }) => {
    const isFull = items.length > MAX_TEXTS;
    return [
      name,
      path,
      items.map(({ from, to, style, text, id, size }) => {
        const isRange = isFull && style.startsWith('layer');
        return [from, to, style, isRange ? '' : text, id, size];
      }),
    ];
  });
  const data = JSON.stringify({ ...rest, rows: shown, ...(withTexts ? { texts } : {}) });
  return raw(`<script type="application/json" data-plot>${data.replaceAll('<', '\\u003c')}</script>`);
}
