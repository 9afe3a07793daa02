import type { ModelPrice, PriceList, TokenCounts } from '../../../src/adapter-kit.ts';

type Library = typeof import('@pydantic/genai-prices');

/** The prices that come with the package `@pydantic/genai-prices`. Works without a network; loads on first use. */
export function createPriceList(): PriceList {
  return {
    source: '@pydantic/genai-prices',
    async find(modelId) {
      const at = modelId.indexOf(':');
      const providerId = modelId.slice(0, at);
      const model = modelId.slice(at + 1);
      if (at <= 0 || model === '') return null;
      const library = await import('@pydantic/genai-prices');
      // Only for the provider's own name, because other servers may use any model name.
      const provider = library.findProvider({ providerId });
      if (provider?.id !== providerId) return null;
      const isKnown = library.calcPrice({ input_tokens: 0 }, model, { provider }) !== null;
      return isKnown ? priceOf(library, { model, provider }) : null;
    },
  };
}

function priceOf(
  { calcPrice }: Library,
  { model, provider }: { readonly model: string; readonly provider: NonNullable<ReturnType<Library['findProvider']>> },
): ModelPrice {
  return (tokens, at) => {
    const price = calcPrice(usageOf(tokens), model, { provider, timestamp: new Date(at) });
    return price?.total_price ?? Number.NaN;
  };
}

/** The library rejects parts that are larger than the whole. */
function usageOf(tokens: TokenCounts) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = tokens;
  const read = Math.min(cacheReadTokens, inputTokens);
  const written = Math.min(cacheWriteTokens, inputTokens - read);
  const hourWritten = Math.min(tokens.hourCacheWriteTokens ?? 0, written);
  return {
    input_tokens: inputTokens,
    cache_read_tokens: read,
    cache_write_tokens: written,
    ...(hourWritten === 0 ? {} : { cache_write_1h_tokens: hourWritten }),
    output_tokens: outputTokens,
    output_reasoning_tokens: Math.min(reasoningTokens, outputTokens),
  };
}
