import { formatNumber, formatPercent, type Gauge } from '../../../../src/adapter-kit.ts';
import { html, type Markup } from '../markup/html.ts';

/** The regions of a view in the order in which a model reads them. Each has one colour on every page. */
const REGIONS = ['fixed', 'stack', 'tail', 'recalled', 'reserve'] as const;
export type Region = (typeof REGIONS)[number];
export type Regions = Readonly<Record<Region, number>>;

export const REGION_NAMES: Readonly<Record<Region, string>> = {
  fixed: 'instructions and tools',
  stack: 'summaries',
  tail: 'messages',
  recalled: 'recalled',
  reserve: 'reserved for the answer',
};

/** For columns and remarks. */
export const SHORT_NAMES: Readonly<Record<Region, string>> = {
  fixed: 'fixed',
  stack: 'summaries',
  tail: 'messages',
  recalled: 'recalled',
  reserve: 'answer',
};

function regionsOf({ measurement }: Pick<Gauge, 'measurement'>): Regions {
  const { fixed, stack, tail, volatile: recalled, reserve } = measurement;
  return { fixed, stack, tail, recalled, reserve };
}

const TIERS = ['background', 'aggressive', 'emergency'] as const;

export interface GaugeSize {
  readonly width: number;
  readonly height: number;
}

/** The used part of the window by region, with a tick at each threshold. The text beside it says the same. */
export function gaugeBar(gauge: Pick<Gauge, 'measurement' | 'thresholds'>, { width, height }: GaugeSize): Markup {
  const { window } = gauge.measurement;
  const regions = regionsOf(gauge);
  const scale = width / Math.max(1, window);
  let from = 0;
  const bars = REGIONS.map((region) => {
    const size = Math.min(regions[region] * scale, width - from);
    const bar =
      size <= 0
        ? ''
        : html`<rect class="l-${region}" x="${round(from)}" y="2" width="${round(size)}" height="${height - 4}"><title>${REGION_NAMES[region]}: ${formatNumber(regions[region])} tokens</title></rect>`;
    from += Math.max(0, size);
    return bar;
  });
  const ticks = TIERS.map((tier) => {
    const x = round(Math.min(width - 1, gauge.thresholds[tier] * width));
    return html`<line class="tick t-${tier}" x1="${x}" x2="${x}" y1="0" y2="${height}"><title>${tier} at ${formatPercent(gauge.thresholds[tier])}</title></line>`;
  });
  return html`<svg class="gauge" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" preserveAspectRatio="none" role="img" aria-label="${gaugeText(gauge)}"><rect class="l-free" x="0" y="2" width="${width}" height="${height - 4}"/>${bars}${ticks}</svg>`;
}

/** `61 % of 32,000 tokens used`. */
export function gaugeText({ measurement }: Pick<Gauge, 'measurement'>): string {
  const { ratio, window, estimated } = measurement;
  return `${estimated ? 'about ' : ''}${percent(ratio)} of ${formatNumber(window)} tokens used`;
}

/** Rounded down, so that a share below a threshold never looks as if it had reached it. */
export function percent(ratio: number): string {
  return formatPercent(Math.floor(ratio * 100 + 1e-9) / 100);
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** What each colour means, with the tokens. */
export function legend({ measurement }: Pick<Gauge, 'measurement'>): Markup {
  const regions = regionsOf({ measurement });
  const { window, used, estimated } = measurement;
  const items = REGIONS.map(
    (region) =>
      html`<li><span class="swatch l-${region}"></span>${REGION_NAMES[region]} <b>${estimated ? '~' : ''}${formatNumber(regions[region])}</b> <span class="dim">${share(regions[region], window)}</span></li>`,
  );
  const free = Math.max(0, window - used);
  return html`<ul class="legend">${items}<li><span class="swatch l-free"></span>free <b>${formatNumber(free)}</b> <span class="dim">${share(free, window)}</span></li></ul>`;
}

function share(tokens: number, window: number): string {
  return formatPercent(tokens / Math.max(1, window));
}
