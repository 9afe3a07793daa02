import { z } from 'zod';
import type { ModelUsage, TokenCounts } from '../../../../src/adapter-kit.ts';

/** The stored part of the SDK's usage. */
interface SdkUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly inputTokenDetails: {
    readonly cacheReadTokens: number | undefined;
    readonly cacheWriteTokens: number | undefined;
  };
  readonly outputTokenDetails: { readonly reasoningTokens: number | undefined };
  /** As the provider wrote it. */
  readonly raw?: unknown;
}

const count = z.number().nonnegative().nullish().catch(null);
const iterations = z
  .array(
    z.object({
      type: z.string(),
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
    }),
  )
  .min(2);
const iterated = z.object({ iterations });
const chat = z.object({ prompt_tokens: count, total_tokens: count });
/** No model writes more in one answer. */
const MAX_UNTOLD_TOKENS = 1_000_000;
const kept = z.object({ cache_creation: z.object({ ephemeral_1h_input_tokens: count }) });
type Iteration = z.infer<typeof iterations>[number];

/** Counts that were not reported are zero; zero input means that it was not reported. */
export function fromUsage(usage: SdkUsage): ModelUsage {
  const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = usage;
  const reasoningTokens = outputTokenDetails.reasoningTokens ?? 0;
  const passes = iterated.safeParse(usage.raw).data?.iterations ?? [];
  const answer = passes.findLast(({ type }) => type === 'message');
  if (answer !== undefined) {
    // The window contains what the last pass read; all passes are billed.
    const others = passes.filter((pass) => pass !== answer).map(tokensOf);
    return { ...tokensOf(answer), ...hourWrites(usage), reasoningTokens, ownPasses: others.reduce(plus) };
  }
  const counted = {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: inputTokenDetails.cacheReadTokens ?? 0,
    cacheWriteTokens: inputTokenDetails.cacheWriteTokens ?? 0,
    ...hourWrites(usage),
    reasoningTokens,
  };
  const { data } = chat.safeParse(usage.raw);
  return data?.prompt_tokens ? withParts(counted, data.total_tokens ?? 0) : counted;
}

/**
 * Some servers with the interface of OpenAI leave reasoning out of the output (Google, xAI), and sometimes cached tokens
 * out of the input (xAI). Their sum shows it, or a part that is larger than its whole.
 */
function withParts(counted: Counted, sum: number): Counted {
  const { cacheReadTokens, reasoningTokens } = counted;
  const inputTokens = counted.inputTokens + (isCacheApart(counted, sum) ? cacheReadTokens : 0);
  const apart = reasoningTokens > counted.outputTokens ? reasoningTokens : 0;
  const rest = sum > 0 ? sum - inputTokens - counted.outputTokens : apart;
  const untold = rest > 0 && rest <= MAX_UNTOLD_TOKENS ? rest : 0;
  const outputTokens = counted.outputTokens + untold;
  return { ...counted, inputTokens, outputTokens, reasoningTokens: Math.max(reasoningTokens, untold) };
}

/** Otherwise cached tokens would be billed as output, which costs many times more. */
function isCacheApart({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens }: Counted, sum: number): boolean {
  if (cacheReadTokens > inputTokens) return true;
  const rest = sum - inputTokens - outputTokens;
  return rest === cacheReadTokens + reasoningTokens || (rest === cacheReadTokens && rest !== reasoningTokens);
}

type Counted = ModelUsage & Pick<TokenCounts, 'reasoningTokens'>;
type Tokens = NonNullable<ModelUsage['ownPasses']>;

/** Anthropic counts cached tokens separately from the input. */
function tokensOf(pass: Iteration): Tokens {
  const cacheReadTokens = pass.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = pass.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (pass.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: pass.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

/** The SDK reports these for the whole call only. */
function hourWrites({ raw }: SdkUsage): Pick<Tokens, 'hourCacheWriteTokens'> {
  const tokens = kept.safeParse(raw).data?.cache_creation.ephemeral_1h_input_tokens ?? 0;
  return tokens === 0 ? {} : { hourCacheWriteTokens: tokens };
}

function plus(one: Tokens, other: Tokens): Tokens {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cacheReadTokens: one.cacheReadTokens + other.cacheReadTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}
