import { describe } from '../domain/errors.ts';
import type { Log } from '../ports/log.ts';
import type { ModelProvider, TokenCounts } from '../ports/model.ts';
import type { ModelPrice, PriceList } from '../ports/prices.ts';

/** US dollars per million tokens. Missing prices equal that of other input. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number | undefined;
  readonly cache_write?: number | undefined;
}

/** Prices of the models in use. */
export interface Prices {
  /** The source of the prices, in words. */
  readonly source: string;
  /** Loads the price of the model for `costOf`. Never rejects. */
  load(modelId: string): Promise<void>;
  /** US dollars; null if the price of the model is unknown. */
  costOf(modelId: string, tokens: TokenCounts, at: number): number | null;
}

/** Where the prices of model calls come from. */
export interface PriceOptions {
  /** Default: none. */
  readonly list?: PriceList;
  /** Custom prices by model id, which take precedence over the list. Read for every call. Default: none. */
  readonly own?: () => Readonly<Record<string, Rates>>;
}

/** Models of these providers run on the operator's own machine. */
const FREE = /^(?:offline|ollama):/;
const TOKENS_PER_RATE = 1_000_000;

export function createPrices({ list, own = () => ({}) }: PriceOptions, log: Log): Prices {
  const found = new Map<string, ModelPrice | null>();
  const failed = new Set<string>();
  /** Once per model: it may fail for every call. */
  const report = (model: string, error: unknown) => {
    if (!failed.has(model)) log.warn('prices.unreadable', { model, error: describe(error) });
    failed.add(model);
  };
  const priceOf = (modelId: string): ModelPrice => {
    const ownRates = own();
    const rates = Object.hasOwn(ownRates, modelId) ? ownRates[modelId] : undefined;
    if (rates !== undefined) return (tokens) => costAt(rates, tokens);
    return FREE.test(modelId) ? () => 0 : (found.get(modelId) ?? (() => Number.NaN));
  };
  return {
    source: list?.source ?? 'no price list',
    async load(modelId) {
      if (list === undefined || found.has(modelId) || FREE.test(modelId)) return;
      try {
        const price = await list.find(modelId);
        if (price !== null && typeof price !== 'function') throw new Error('find returned neither a function nor null');
        found.set(modelId, price);
      } catch (error) {
        report(modelId, error);
      }
    },
    costOf(modelId, tokens, at) {
      try {
        const cost = priceOf(modelId)(tokens, at);
        return Number.isFinite(cost) && cost >= 0 ? cost : null;
      } catch (error) {
        // A reply has been paid for, and must not be lost because nobody knows what it cost.
        report(modelId, error);
        return null;
      }
    },
  };
}

function costAt({ input, output, cache_read = input, cache_write = input }: Rates, tokens: TokenCounts): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = tokens;
  const whole = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const cached = cacheReadTokens * cache_read + cacheWriteTokens * cache_write;
  return (whole * input + cached + outputTokens * output) / TOKENS_PER_RATE;
}

/** The same models, but opening one also loads its price. */
export function withPrices(models: ModelProvider, prices: Prices): ModelProvider {
  return {
    choose: () => models.choose(),
    async open(modelId) {
      const [model] = await Promise.all([models.open(modelId), prices.load(modelId)]);
      await prices.load(model.id);
      return model;
    },
  };
}
