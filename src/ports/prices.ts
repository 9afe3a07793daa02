import type { TokenCounts } from './model.ts';

/** What the calls of models cost. */
export interface PriceList {
  /** Where the prices come from, for people. */
  readonly source: string;
  /** The price of a model by its id (`provider:model`), or null when the list has none. Loads what it needs when it is called. */
  find(modelId: string): Promise<ModelPrice | null>;
}

/** US dollars for one call at a time: prices change, and some differ by hour or by the size of the request. */
export type ModelPrice = (tokens: TokenCounts, at: number) => number;
