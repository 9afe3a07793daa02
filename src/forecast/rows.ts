import { formatDollars } from '../costs/format.ts';
import { formatNumber, formatPercent } from '../util/text/text.ts';
import type { Forecast } from './forecast.ts';

/** One line of a comparison of forecasts. */
export interface ForecastRow {
  readonly name: string;
  /** Null if it is not an amount, or unknown. */
  amountOf(forecast: Forecast): number | null;
  textOf(forecast: Forecast): string;
}

export const FORECAST_ROWS: readonly ForecastRow[] = [
  { name: 'Engine', amountOf: () => null, textOf: ({ engine }) => engine },
  { name: 'Window', amountOf: () => null, textOf: ({ windowTokens }) => formatNumber(windowTokens) },
  { name: 'Messages', amountOf: () => null, textOf: ({ messages }) => formatNumber(messages) },
  amount('Compactions', ({ compactions }) => compactions),
  amount('Condensed stacks', ({ condensations }) => condensations),
  amount('Emergencies', ({ emergencies }) => emergencies),
  { name: 'Mean view', amountOf: ({ meanTokens }) => meanTokens, textOf: (of) => share(of.meanTokens, of) },
  { name: 'Largest view', amountOf: ({ peakTokens }) => peakTokens, textOf: (of) => share(of.peakTokens, of) },
  {
    name: 'Evidence in view',
    amountOf: ({ evidence: { messages, inView } }) => (messages === 0 ? null : inView / messages),
    textOf: ({ evidence: { messages, inView } }) =>
      messages === 0 ? 'nothing asked' : `${formatPercent(inView / messages)} of ${formatNumber(messages)}`,
  },
  amount('Calls for replies', ({ requests }) => requests),
  amount('Input of replies', ({ inputTokens }) => inputTokens),
  amount('From the cache', ({ cachedTokens }) => cachedTokens),
  amount('Cache breaks', ({ cacheBreaks }) => cacheBreaks),
  amount('Summariser input', ({ summariserTokens }) => summariserTokens.input),
  amount('Summariser output', ({ summariserTokens }) => summariserTokens.output),
  {
    name: 'Cost',
    amountOf: ({ costUsd }) => costUsd,
    textOf: ({ costUsd }) => (costUsd === null ? 'price unknown' : formatDollars(costUsd)),
  },
];

function amount(name: string, amountOf: (forecast: Forecast) => number): ForecastRow {
  return { name, amountOf, textOf: (forecast) => formatNumber(amountOf(forecast)) };
}

function share(tokens: number, { windowTokens }: Forecast): string {
  return `${formatNumber(tokens)} (${formatPercent(tokens / windowTokens)})`;
}
