import { counted, formatNumber, formatPercent, type WhatIfView } from '../../../src/adapter-kit.ts';
import { caption, seqAxis, shareAxis, thresholdLines } from './axes.ts';
import { percent, round } from './gauge.ts';
import { html, type Markup, nothing } from './html.ts';

type Forecast = NonNullable<WhatIfView['present']>;

const WIDTH = 820;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 84;
const ROW = 24;

interface NamedForecast {
  readonly name: string;
  readonly forecast: Forecast;
}

interface Scale {
  readonly x: (seq: number) => number;
  readonly y: (share: number) => number;
}

/** The used share of the window over the messages, now and as tried, with the summaries of both below it. */
export function whatIfChart({ present, tried, thresholds }: WhatIfView): Markup {
  const shown = [present, tried].filter((forecast) => forecast !== null);
  const points = shown.flatMap(({ view }) => view);
  const fromSeq = Math.min(...points.map(({ seq }) => seq));
  const toSeq = Math.max(...points.map(({ seq }) => seq));
  if (points.length === 0) return html`<p class="dim">There is nothing to draw.</p>`;
  const scale: Scale = {
    x: (seq) => LEFT + ((seq - fromSeq) / Math.max(1, toSeq - fromSeq)) * (WIDTH - LEFT - RIGHT),
    y: (share) => 8 + (1 - Math.min(1, share)) * (HEIGHT - 16),
  };
  const rows = [
    { name: 'present', forecast: present },
    { name: 'tried', forecast: tried },
  ].flatMap(({ name, forecast }) => (forecast === null ? [] : [{ name, forecast }]));
  const height = HEIGHT + rows.length * ROW + 22;
  const frame = { left: LEFT, right: WIDTH - RIGHT, y: scale.y };
  return html`<figure class="chart"><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${labelOf(present, tried)}">
    ${shareAxis(frame)}${present === null ? nothing : area(present, scale)}${thresholdLines(thresholds, frame)}${tried === null ? nothing : html`<path class="tried" d="${lineOf(tried, scale)}"/>`}
    ${rows.map(({ name, forecast }, index) => marks(forecast, { scale, name, top: HEIGHT + index * ROW }))}
    ${hotspots(rows, { scale, toSeq })}${seqAxis({ ...frame, at: height - 4, seqAt: (share) => fromSeq + share * (toSeq - fromSeq) })}
  </svg>${caption('The share of the window that is used after each message.')}</figure><ul class="legend">${present === null ? '' : html`<li><span class="swatch key-present"></span>present settings</li>`}${tried === null ? '' : html`<li><span class="swatch key-tried"></span>tried</li>`}<li><span class="swatch l-stack"></span>summaries written, taller for several</li><li><span class="swatch key-urgent"></span>messages removed at once</li></ul>`;
}

function labelOf(present: Forecast | null, tried: Forecast | null): string {
  const text = (name: string, forecast: Forecast | null) =>
    forecast === null
      ? []
      : [
          `${name}: on average ${formatPercent(forecast.meanTokens / forecast.windowTokens)} of ${formatNumber(forecast.windowTokens)} tokens, at most ${percent(forecast.peakTokens / forecast.windowTokens)}, ${counted(forecast.compactions + forecast.condensations, 'summary', 'summaries')}`,
        ];
  return `Used share of the window over the messages. ${[...text('Present settings', present), ...text('Tried', tried)].join('. ')}.`;
}

interface Hover {
  readonly scale: Scale;
  readonly toSeq: number;
}

/** Invisible bars with the figures of both forecasts from each of their points on. */
function hotspots(rows: readonly NamedForecast[], { scale, toSeq }: Hover): Markup {
  const seqs = [...new Set(rows.flatMap(({ forecast }) => forecast.view.map(({ seq }) => seq)))].toSorted(
    (a, b) => a - b,
  );
  const bars = seqs.map((seq, index) => {
    const x = round(scale.x(seq));
    const width = round(Math.max(2, scale.x(seqs[index + 1] ?? toSeq) - scale.x(seq)));
    return html`<rect class="hot" x="${x}" y="0" width="${width}" height="${HEIGHT}"><title>#${seq}: ${rows.map((row) => usedAt(row, seq)).join(', ')}</title></rect>`;
  });
  return html`${bars}`;
}

function usedAt({ name, forecast: { view, windowTokens } }: NamedForecast, seq: number): string {
  const point = view.findLast((each) => each.seq <= seq) ?? view[0];
  const used = point?.usedTokens ?? 0;
  return `${name} ${percent(used / windowTokens)} (~${formatNumber(used)} of ${formatNumber(windowTokens)} tokens)`;
}

function lineOf({ view, windowTokens }: Forecast, { x, y }: Scale): string {
  const points = view.map(({ seq, usedTokens }) => `${round(x(seq))} ${round(y(usedTokens / windowTokens))}`);
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

function area(forecast: Forecast, scale: Scale): Markup {
  const [first, last] = [forecast.view[0], forecast.view.at(-1)];
  if (first === undefined || last === undefined) return nothing;
  const line = lineOf(forecast, scale);
  const base = round(scale.y(0));
  return html`<path class="present-area" d="${line}L${round(scale.x(last.seq))} ${base}L${round(scale.x(first.seq))} ${base}Z"/><path class="present" d="${line}"/>`;
}

interface MarkRow {
  readonly scale: Scale;
  readonly name: string;
  readonly top: number;
}

const TALLEST = ROW - 6;

function marks({ view }: Forecast, { scale, name, top }: MarkRow): Markup {
  const most = Math.max(1, ...view.map(({ summaries, emergencies }) => Math.max(summaries, emergencies)));
  const base = top + ROW - 3;
  const ticks = view.flatMap(({ seq, summaries, emergencies }) => {
    if (summaries + emergencies === 0) return [];
    const height = round(Math.max(5, ((summaries || emergencies) / most) * TALLEST));
    const text = `by #${seq}: ${counted(summaries, 'summary', 'summaries')}${emergencies === 0 ? '' : `, ${counted(emergencies, 'emergency', 'emergencies')}`}`;
    return [
      html`<rect class="${emergencies > 0 ? 'work urgent' : 'work'}" x="${round(scale.x(seq) - 2)}" y="${round(base - height)}" width="4" height="${height}"><title>${text}</title></rect>`,
    ];
  });
  return html`<text x="${LEFT - 6}" y="${top + 16}" class="end">${name}</text><line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}"/>${ticks}`;
}
