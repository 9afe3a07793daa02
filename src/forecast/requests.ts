import { DEFAULT_CACHE_MS } from '../context/cuts/cache-loss.ts';
import type { Entry } from '../domain/message.ts';
import type { TokenCounts } from '../ports/model.ts';
import { type Moment, measureAt, type ViewContext } from './view.ts';

/** The calls that wrote the recorded replies. */
export interface Requests {
  readonly requests: number;
  readonly inputTokens: number;
  /** Input that the provider had in its cache; 0 if it reports none. */
  readonly cachedTokens: number;
  /** Requests that could not use the whole prefix of the one before. */
  readonly cacheBreaks: number;
  /** Null if the price is unknown. */
  readonly costUsd: number | null;
}

export interface RequestCount {
  add(reply: Entry, moment: Moment): void;
  result(): Requests;
}

interface Sent {
  readonly moment: Moment;
  readonly at: number;
  readonly inputTokens: number;
}

export interface RequestContext extends ViewContext {
  /** Whether the provider reports cached tokens. */
  readonly isCached: boolean;
  /** US dollars of a call; null if the price is unknown. */
  costOfReply(tokens: TokenCounts, at: number): number | null;
}

export function createRequestCount(context: RequestContext): RequestCount {
  const sum = { requests: 0, inputTokens: 0, cachedTokens: 0, cacheBreaks: 0 };
  let costUsd: number | null = 0;
  let last: Sent | null = null;
  return {
    add({ at, tokens: outputTokens }, moment) {
      const { used, reserve } = measureAt(context, moment);
      const inputTokens = used - reserve;
      const cachedTokens = Math.min(inputTokens, cachedOf(context, last, { moment, at }));
      sum.requests += 1;
      sum.inputTokens += inputTokens;
      sum.cachedTokens += cachedTokens;
      if (last !== null && !isExtended(last.moment, moment)) sum.cacheBreaks += 1;
      const tokens = { inputTokens, outputTokens, cacheReadTokens: cachedTokens, cacheWriteTokens: 0 };
      const cost = context.costOfReply({ ...tokens, reasoningTokens: 0 }, at);
      costUsd = costUsd === null || cost === null ? null : costUsd + cost;
      last = { moment, at, inputTokens };
    },
    result: () => ({ ...sum, costUsd }),
  };
}

function isExtended(before: Moment, after: Moment): boolean {
  return before.start === after.start && before.stack === after.stack;
}

/** The whole last request, or its fixed part and the summaries that have stayed. */
function cachedOf(context: RequestContext, last: Sent | null, { moment, at }: Pick<Sent, 'moment' | 'at'>): number {
  const { profile, prefixes, correction, isCached } = context;
  if (!isCached || last === null || at - last.at > (profile.traits.cacheMs ?? DEFAULT_CACHE_MS)) return 0;
  if (isExtended(last.moment, moment)) return last.inputTokens;
  const before = last.moment.stack;
  const changed = moment.stack.findIndex((item, index) => item !== before[index]);
  const kept = changed < 0 ? moment.stack : moment.stack.slice(0, changed);
  const layers = prefixes.layers(profile, kept, 0).reduce((sum, { tokens }) => sum + tokens, 0);
  return Math.floor((prefixes.prefix(profile, { correction, share: 1 }).tokens + layers) * correction);
}
