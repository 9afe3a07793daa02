import { counted, formatNumber, formatPercent, type WhatIfView } from '../../../../src/adapter-kit.ts';
import { html, type Markup } from '../markup/html.ts';
import { percent } from './gauge.ts';
import { type Item, type Plot, type Row, type Series, shareOf } from './plot.ts';
import { plotFigure } from './plot-svg.ts';

type Forecast = NonNullable<WhatIfView['present']>;

const WIDTH = 820;
const HEIGHT = 260;

interface NamedForecast {
  readonly name: 'present' | 'tried';
  readonly forecast: Forecast;
}

/** The used share of the window over the messages, now and as tried, with the summaries of both below it. */
export function whatIfChart(view: WhatIfView, { isDrawn }: { readonly isDrawn: boolean }): Markup {
  const { present, tried } = view;
  const shown = [{ name: 'present', forecast: present } as const, { name: 'tried', forecast: tried } as const].flatMap(
    ({ name, forecast }) => (forecast === null ? [] : [{ name, forecast }]),
  );
  const seqs = new Set(shown.flatMap(({ forecast }) => forecast.view.map(({ seq }) => seq)));
  if (seqs.size === 0) return html`<p class="dim">There is nothing to draw.</p>`;
  const plot = whatIfPlot(view, { shown, seqs: [...seqs].toSorted((a, b) => a - b) });
  return plotFigure(plot, { keys: KEYS, isDrawn });
}

const KEYS = html`<li><span class="swatch l-stack"></span>summaries written, taller for several</li><li><span class="swatch key-urgent"></span>messages removed at once</li>`;

interface Shown {
  readonly shown: readonly NamedForecast[];
  readonly seqs: readonly number[];
}

function whatIfPlot({ thresholds }: WhatIfView, { shown, seqs }: Shown): Plot {
  const [fromSeq, toSeq] = [seqs[0] ?? 0, seqs.at(-1) ?? 0];
  return {
    label: labelOf(shown),
    caption: 'The share of the window that is used after each message.',
    unit: 'share',
    style: 'lines',
    axis: 'messages',
    width: WIDTH,
    height: HEIGHT,
    most: 1,
    opens: false,
    thresholds,
    chosen: null,
    range: [fromSeq, Math.max(toSeq, fromSeq + 1)],
    edges: [...seqs, toSeq],
    points: seqs,
    texts: seqs.map((seq) => `#${seq}: ${shown.map((forecast) => usedAt(forecast, seq)).join(', ')}`),
    series: shown.map((forecast) => lineOf(forecast, seqs)),
    rows: shown.map(rowOf),
  };
}

const NAMES = { present: 'present settings', tried: 'tried' } as const;

function labelOf(shown: readonly NamedForecast[]): string {
  const texts = shown.map(({ name, forecast: { meanTokens, peakTokens, windowTokens, ...forecast } }) => {
    const work = counted(forecast.compactions + forecast.condensations, 'summary', 'summaries');
    return `${NAMES[name]}: on average ${formatPercent(meanTokens / windowTokens)} of ${formatNumber(windowTokens)} tokens, at most ${percent(peakTokens / windowTokens)}, ${work}`;
  });
  return `Used share of the window over the messages. ${texts.join('. ')}.`;
}

function usedAt({ name, forecast: { view, windowTokens } }: NamedForecast, seq: number): string {
  const point = view.findLast((each) => each.seq <= seq) ?? view[0];
  const used = point?.usedTokens ?? 0;
  return `${name} ${percent(used / windowTokens)} (~${formatNumber(used)} of ${formatNumber(windowTokens)} tokens)`;
}

function lineOf({ name, forecast: { view, windowTokens } }: NamedForecast, seqs: readonly number[]): Series {
  const used = new Map(view.map(({ seq, usedTokens }) => [seq, shareOf(usedTokens, windowTokens)]));
  const values = seqs.map((seq) => used.get(seq) ?? null);
  return { key: name, name: NAMES[name], kind: name === 'present' ? 'area' : 'line', values };
}

function rowOf({ name, forecast: { view } }: NamedForecast): Row {
  const most = Math.max(1, ...view.map(({ summaries, emergencies }) => Math.max(summaries, emergencies)));
  const items = view.flatMap(({ seq, summaries, emergencies }): readonly Item[] => {
    if (summaries + emergencies === 0) return [];
    const urgent = emergencies === 0 ? '' : `, ${counted(emergencies, 'emergency', 'emergencies')}`;
    const text = `by #${seq}: ${counted(summaries, 'summary', 'summaries')}${urgent}`;
    const style = emergencies > 0 ? 'work urgent' : 'work';
    return [{ from: seq, to: seq, style, text, id: null, size: shareOf(summaries || emergencies, most) }];
  });
  return { name, path: '', items };
}
