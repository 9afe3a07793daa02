import type { ContextProfile } from '../../ports/engine.ts';
import type { TokenCounts } from '../../ports/model.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import type { RequestPrint } from '../record/request-print.ts';
import { DEFAULT_CACHE_MS } from './cache-loss.ts';

/** When ready summaries replace their messages in the view: a change of the prefix costs what the provider has cached. */

/** Dollars per token, or any other unit: only their ratio counts. */
export interface CachePrices {
  /** The price of a token that is read from the cache. */
  readonly read: number;
  /** The price of a token that is not in the cache. */
  readonly miss: number;
}

/** The usual prices of providers. */
const USUAL_PRICES: CachePrices = { read: 0.1, miss: 1.25 };
const PRICED_TOKENS = 1000;

export interface PublicationFacts {
  readonly profile: Pick<ContextProfile, 'windowTokens' | 'thresholds'>;
  /** Corrected tokens of the view as it is, and with the ready summaries in place. */
  readonly usedTokens: number;
  readonly publishedTokens: number;
  /** What the provider would have to read again: everything after the summaries that stay. */
  readonly rewrittenTokens: number;
  readonly isWarm: boolean;
  /** The next request cannot use the prefix of the last one anyway. */
  readonly isBroken: boolean;
  /** Requests since the summaries were ready. */
  readonly requests: number;
  readonly prices: CachePrices;
}

/**
 * At once if the view needs the room, the cache is cold or something else changes the prefix. Otherwise when the
 * messages that could have left have cost as much as a new prefix. Pure.
 */
export function isPublicationDue(facts: PublicationFacts): boolean {
  const { profile, usedTokens, publishedTokens, rewrittenTokens, isWarm, isBroken, requests, prices } = facts;
  if (!hasRoom(profile, usedTokens) || !isWarm || isBroken) return true;
  const held = requests * Math.max(0, usedTokens - publishedTokens) * prices.read;
  return held >= rewrittenTokens * (prices.miss - prices.read);
}

/** Whether a view can wait for a cheaper moment. */
export function hasRoom({ windowTokens, thresholds }: PublicationFacts['profile'], usedTokens: number): boolean {
  return usedTokens < thresholds.aggressive * windowTokens;
}

/** Whether the provider still has the prefix of the last request. One that reports no cached tokens has none. */
export function isWarm(
  last: RequestPrint | null,
  { modelId, traits }: Pick<ContextProfile, 'modelId' | 'traits'>,
  now: number,
): boolean {
  if (last === null || !last.reports || last.model !== modelId) return false;
  return now - last.at <= (traits.cacheMs ?? DEFAULT_CACHE_MS);
}

/** Requests since the oldest ready summary was written. */
export function requestsSince({ ready = [], tail }: ContextSnapshot): number {
  const since = Math.min(...ready.map(({ createdAt }) => createdAt));
  const turns = tail.flatMap(({ role, turn, at }) => (role === 'assistant' && at > since ? [turn] : []));
  return new Set(turns).size;
}

type CostOf = (tokens: TokenCounts) => number | null;

/** The prices of a model, or the usual ones if they are unknown or it is free. */
export function cachePricesOf(costOf: CostOf): CachePrices {
  const none = { outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const call = { ...none, inputTokens: PRICED_TOKENS };
  const read = costOf({ ...call, cacheReadTokens: PRICED_TOKENS });
  const miss = costOf({ ...call, cacheWriteTokens: PRICED_TOKENS });
  return read === null || miss === null || miss === 0 ? USUAL_PRICES : { read, miss };
}
