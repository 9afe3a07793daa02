import {
  type CostsView,
  causeText,
  counted,
  formatCost,
  formatDollars,
  formatNumber,
  formatPercent,
} from '../../../../src/adapter-kit.ts';
import type { Plot } from '../charts/plot.ts';
import { plotFigure } from '../charts/plot-svg.ts';
import { conversationPath, html, type Markup, nothing, withParameters } from '../markup/html.ts';
import { emptyState } from './layout.ts';
import { cardMarkup } from './overview-page.ts';

const RANGES = [
  { days: 1, name: 'today' },
  { days: 7, name: '7 days' },
  { days: 30, name: '30 days' },
  { days: 0, name: 'all' },
] as const;

export function costsBody(view: CostsView, days: number | null): Markup {
  const { total, hitRate, priceSource } = view;
  const ranges = RANGES.map(
    (range) =>
      html`<a class="button" href="${withParameters('/costs', { days: range.days })}" ${range.days === (days ?? 0) ? html`aria-current="true"` : ''}>${range.name}</a>`,
  );
  const head = html`<h1>Costs</h1><p class="ranges">${ranges}</p>`;
  if (total.calls === 0)
    return html`${head}${emptyState('No model was called in this time', html`Every reply, summary and extraction is counted here with its price.`)}`;
  const cards = [
    { name: 'Spent', value: formatCost(total), note: counted(total.calls, 'model call', 'model calls') },
    { name: 'Read by models', value: formatNumber(total.inputTokens), note: 'input tokens' },
    {
      name: 'Written by models',
      value: formatNumber(total.outputTokens),
      note: `output tokens, ${formatNumber(total.reasoningTokens)} of them reasoning`,
    },
    {
      name: 'Read from the cache',
      value: hitRate === null ? 'unknown' : formatPercent(hitRate),
      note: hitRate === null ? 'the provider does not report it' : 'of the input of replies',
    },
  ];
  return html`${head}<ul class="cards">${cards.map(cardMarkup)}</ul>${dayChart(view)}${view.groups.map((group) => groupTable(group, view))}${losses(view)}<p class="dim small">Prices: ${priceSource}. The same as <code>strata cost</code>; days begin at midnight UTC.</p>`;
}

const WIDTH = 1200;
const HEIGHT = 140;
/** With fewer days, the bars do not become wider. */
const MIN_SLOTS = 28;

function dayChart({ days }: CostsView): Markup {
  const usesMoney = days.some(({ costUsd }) => costUsd > 0);
  const amounts = days.map((day) => (usesMoney ? day.costUsd : day.inputTokens + day.outputTokens));
  const most = Math.max(1e-9, ...amounts);
  const names = days.map(({ key }) => key ?? '');
  const name = usesMoney ? 'Cost' : 'Tokens';
  const textOf = usesMoney ? formatDollars : formatNumber;
  const plot: Plot = {
    label: `${name} per day for ${days.length} days, ${names[0]} to ${names.at(-1)}. Highest: ${textOf(most)}.`,
    caption: `${name} per day.`,
    unit: usesMoney ? 'dollars' : 'tokens',
    style: 'bars',
    axis: 'points',
    width: WIDTH,
    height: HEIGHT,
    most,
    opens: false,
    thresholds: null,
    chosen: null,
    rows: [],
    range: [0, Math.max(MIN_SLOTS, days.length)],
    edges: [...days.map((_, index) => index), days.length],
    points: names,
    texts: days.map(
      (day) =>
        `${day.key}: ${formatCost(day)}, ${counted(day.calls, 'call', 'calls')}, ${formatNumber(day.inputTokens)} tokens in, ${formatNumber(day.outputTokens)} out`,
    ),
    series: [{ key: 'accent', name, kind: 'stacked', values: amounts.map(shortened) }],
  };
  return html`<section class="panel"><h2>By day</h2>${plotFigure(plot, { isDrawn: true })}</section>`;
}

/** Without digits that a chart cannot show. */
function shortened(amount: number): number {
  return Number(amount.toPrecision(5));
}

const NAMES = {
  purpose: 'purpose',
  model: 'model',
  agent: 'agent',
  conversation: 'conversation',
  person: 'person',
  day: 'day',
} as const;

function groupTable({ by, rows }: CostsView['groups'][number], { total }: CostsView): Markup {
  if (rows.length === 0) return nothing;
  return html`<h2>By ${NAMES[by]}</h2><div class="scroll" tabindex="0" role="region" aria-label="Costs by ${NAMES[by]}"><table><thead><tr><th scope="col">${NAMES[by]}</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Input</th><th scope="col" class="num">Cached</th><th scope="col" class="num">Output</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Share of input</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr data-row><th scope="row">${nameOf(by, row.key)}</th><td class="num">${formatNumber(row.calls)}</td><td class="num">${formatNumber(row.inputTokens)}</td><td class="num">${formatPercent(row.cacheReadTokens / Math.max(1, row.inputTokens))}</td><td class="num">${formatNumber(row.outputTokens)}</td><td class="num">${formatCost(row)}</td><td class="num">${formatPercent(row.inputTokens / Math.max(1, total.inputTokens))}</td></tr>`)}</tbody></table></div>`;
}

function nameOf(by: string, key: string | null): string | Markup {
  if (key === null) return by === 'person' ? 'nobody: background work' : 'not recorded';
  return by === 'conversation' ? html`<a href="${conversationPath(key)}">${key}</a>` : key;
}

function losses({ losses: rows }: CostsView): Markup {
  if (rows.length === 0) return nothing;
  return html`<h2>What the cache lost, and why</h2><div class="scroll" tabindex="0" role="region" aria-label="Losses of the cache"><table><thead><tr><th scope="col">Lost because</th><th scope="col" class="num">Times</th><th scope="col" class="num">Tokens read again</th></tr></thead>
    <tbody>${rows.map(({ cause, losses: times, tokens }) => html`<tr><th scope="row">${causeText(cause)}</th><td class="num">${formatNumber(times)}</td><td class="num">${formatNumber(tokens)}</td></tr>`)}</tbody></table></div>`;
}
