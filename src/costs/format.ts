import type { Spent } from '../ports/journal.ts';
import { counted, formatNumber, formatPercent } from '../util/text.ts';

/** `$12.40`, `$0.0031`; smaller amounts with two significant digits. */
export function formatDollars(dollars: number): string {
  if (dollars >= 1)
    return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  if (dollars >= 0.001 || dollars === 0) return `$${dollars.toFixed(dollars === 0 ? 2 : 4)}`;
  return `$${dollars.toLocaleString('en-US', { maximumSignificantDigits: 2 })}`;
}

/** `$1.20`, or with calls of unknown price: `$1.20 and 3 calls of unknown price`. */
export function formatCost({
  calls,
  costUsd,
  unpricedCalls,
}: Pick<Spent, 'calls' | 'costUsd' | 'unpricedCalls'>): string {
  if (unpricedCalls === 0) return formatDollars(costUsd);
  if (unpricedCalls === calls) return 'price unknown';
  return `${formatDollars(costUsd)} and ${counted(unpricedCalls, 'call', 'calls')} of unknown price`;
}

/** `1,200 in (80 % cached) + 90 out (40 reasoning)`; zero parts are left out. */
export function formatTokens({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: Spent): string {
  const cached = cacheReadTokens === 0 ? '' : ` (${formatPercent(cacheReadTokens / Math.max(1, inputTokens))} cached)`;
  const reasoning = reasoningTokens === 0 ? '' : ` (${formatNumber(reasoningTokens)} reasoning)`;
  return `${formatNumber(inputTokens)} in${cached} + ${formatNumber(outputTokens)} out${reasoning}`;
}

export function sumOf(rows: readonly Spent[]): Spent {
  const sum = (field: keyof Spent) => rows.reduce((total, row) => total + row[field], 0);
  return {
    calls: sum('calls'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    reasoningTokens: sum('reasoningTokens'),
    costUsd: sum('costUsd'),
    unpricedCalls: sum('unpricedCalls'),
  };
}
