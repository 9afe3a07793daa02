import type { TokenCounts } from './model.ts';

/** Prices of model calls. */
export interface PriceList {
  /** The source of the prices, in words. */
  readonly source: string;
  /**
   * The price of a model by its id (`provider:model`), or null if the list does not contain it. Loads its data on the
   * first call.
   */
  find(modelId: string): Promise<ModelPrice | null>;
}

/** US dollars for one call. Prices change, and some depend on the hour or the size of the request. */
export type ModelPrice = (tokens: TokenCounts, at: number) => number;
