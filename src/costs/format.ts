import type { CacheLossCause, CacheLossTotal, Spent } from '../ports/journal.ts';
import { counted, formatNumber, formatPercent } from '../util/text/text.ts';

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

const CAUSES: Readonly<Record<CacheLossCause, string>> = {
  compaction: 'a summary replaced messages',
  condensing: 'summaries became one',
  gap: 'messages left without a summary',
  edit: 'a message was edited, deleted or forgotten',
  reset: 'the conversation was reset',
  instructions: 'instructions changed',
  prompt: 'the prompt changed',
  tools: 'the tools changed',
  hook: 'a plugin changed a request',
  shortened: 'parts became shorter or whole again',
  model: 'another model answered',
  engine: 'the engine moved its window',
  expired: 'the provider’s time was over',
  unknown: 'unknown',
};

/** A cause for people to read. */
export function causeText(cause: CacheLossCause): string {
  return CAUSES[cause];
}

/** The share of the input that the provider read from its cache; null if it never reported one. */
export function hitRateOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Spent): number | null {
  return cacheReadTokens + cacheWriteTokens === 0 ? null : cacheReadTokens / Math.max(1, inputTokens);
}

/** `80 % of the input read from the cache`, then a line per cause. */
export function formatCache(replies: Spent, losses: readonly CacheLossTotal[]): readonly string[] {
  const rate = hitRateOf(replies);
  const first =
    rate === null ? 'the provider reports no cached tokens' : `${formatPercent(rate)} of the input of replies`;
  const lines = losses.map(({ cause, losses: times, tokens }) => {
    const count = counted(times, 'loss', 'losses');
    return `${count}, ~${formatNumber(tokens)} tokens: ${causeText(cause)}`;
  });
  return [first, ...lines];
}
