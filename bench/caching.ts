import { estimateBlock, estimateMessages, estimateText, estimateTools } from '../src/context/measure/tokens.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../src/ports/model.ts';

/** What a provider with a prefix cache has read in all requests. */
export interface CacheTotals {
  requests: number;
  inputTokens: number;
  /** Tokens in the same place as in the request before, however long ago that was. */
  repeatedTokens: number;
}

export interface CachingOptions {
  readonly now: () => number;
  /** How long a prefix stays in the cache after its last use. */
  readonly cacheMs: number;
}

interface Part {
  readonly text: string;
  readonly tokens: number;
}

/** The model behind a provider that caches the prefix of the last request, and reports and bills it like Anthropic. */
export function cachingModel(model: ChatModel, options: CachingOptions) {
  const totals: CacheTotals = { requests: 0, inputTokens: 0, repeatedTokens: 0 };
  let last: readonly Part[] = [];
  let lastAt = Number.NEGATIVE_INFINITY;
  const count = (request: ModelRequest) => {
    const parts = partsOf(request);
    const same = commonTokens(last, parts);
    const inputTokens = parts.reduce((sum, { tokens }) => sum + tokens, 0);
    const isWarm = options.now() - lastAt <= options.cacheMs;
    if (last.length > 0) {
      totals.requests += 1;
      totals.inputTokens += inputTokens;
      totals.repeatedTokens += same;
    }
    const cacheReadTokens = isWarm ? same : 0;
    // The breakpoint is before the newest message.
    const cacheWriteTokens = Math.max(0, inputTokens - cacheReadTokens - (parts.at(-1)?.tokens ?? 0));
    last = parts;
    lastAt = options.now();
    return { inputTokens, cacheReadTokens, cacheWriteTokens };
  };
  const caching: ChatModel = {
    ...model,
    async *stream(request, how): AsyncGenerator<ModelPart> {
      const counted = count(request);
      let text = '';
      for await (const part of model.stream(request, how)) {
        if (part.kind === 'text') text += part.text;
        yield part.kind === 'finish' ? { ...part, usage: { ...counted, outputTokens: estimateText(text) } } : part;
      }
    },
  };
  return { model: caching, totals };
}

function partsOf({ tools, system, messages }: ModelRequest): readonly Part[] {
  return [
    { text: JSON.stringify(tools), tokens: estimateTools(tools) },
    ...system.map((block) => ({ text: block.text, tokens: estimateBlock(block) })),
    ...messages.map((message) => ({ text: JSON.stringify(message), tokens: estimateMessages([message]) })),
  ];
}

function commonTokens(one: readonly Part[], other: readonly Part[]): number {
  let tokens = 0;
  for (const [index, part] of other.entries()) {
    if (one[index]?.text !== part.text) break;
    tokens += part.tokens;
  }
  return tokens;
}

/** A model that bills every token in full, without a cache. */
export function billedModel(model: ChatModel): ChatModel {
  return cachingModel(model, { now: () => 0, cacheMs: -1 }).model;
}
