import { formatPercent, type Gauge } from '../../../src/adapter-kit.ts';
import { round } from './gauge.ts';
import { html, type Markup } from './html.ts';

/** Where a plot begins and ends in its drawing. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  /** The height of a share of the window. */
  readonly y: (share: number) => number;
}

export function shareAxis({ left, right, y }: Frame): Markup {
  const lines = [0, 0.5, 1].map(
    (share) =>
      html`<line class="grid" x1="${left}" x2="${right}" y1="${round(y(share))}" y2="${round(y(share))}"/><text x="${left - 6}" y="${round(y(share) + 4)}" class="end">${formatPercent(share)}</text>`,
  );
  return html`${lines}`;
}

const TIERS = ['background', 'aggressive', 'emergency'] as const;

/** Labels move apart where thresholds lie close together. */
export function thresholdLines(thresholds: Gauge['thresholds'], { left, right, y }: Frame): Markup {
  let below = Number.POSITIVE_INFINITY;
  const lines = TIERS.map((tier) => {
    const at = round(y(thresholds[tier]));
    below = Math.min(at + 4, below - 13);
    return html`<line class="tick t-${tier}" x1="${left}" x2="${right}" y1="${at}" y2="${at}"/><text x="${right + 6}" y="${below}">${tier}</text>`;
  });
  return html`${lines}`;
}

interface SeqAxis extends Pick<Frame, 'left' | 'right'> {
  /** The base line of the labels. */
  readonly at: number;
  /** The seq at each share of the way. */
  readonly seqAt: (share: number) => number;
}

const STEPS = [0, 0.25, 0.5, 0.75, 1];
const MIN_FOR_STEPS = 8;

/** The numbers of messages at the ends, and between them if there are enough. */
export function seqAxis({ left, right, at, seqAt }: SeqAxis): Markup {
  const steps = seqAt(1) - seqAt(0) < MIN_FOR_STEPS ? [0, 1] : STEPS;
  const labels = steps.map((share) => {
    const anchor = share === 0 ? '' : share === 1 ? 'end' : 'mid';
    return html`<text x="${round(left + share * (right - left))}" y="${at}" class="${anchor}">${share === 0 ? 'message ' : ''}#${Math.round(seqAt(share))}</text>`;
  });
  return html`${labels}`;
}

/** Below a chart: what it shows. The script puts the figures here of what is pointed at or chosen with the arrow keys. */
export function caption(text: string): Markup {
  return html`<figcaption class="dim small" data-readout>${text}</figcaption>`;
}
