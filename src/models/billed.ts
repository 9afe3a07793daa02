import { estimateJson, estimateRequest, estimateText } from '../context/measure/tokens.ts';
import type { ModelRequest, ModelUsage } from '../ports/model.ts';
import type { BilledStep } from './step.ts';

/** What a call cost in tokens. What the provider does not report is estimated, because no call is free. */
export function billedUsage(sent: ModelRequest, { text, calls, usage }: BilledStep): ModelUsage {
  const { inputTokens, outputTokens, reasoningTokens = 0 } = usage;
  return {
    ...usage,
    inputTokens: inputTokens > 0 ? inputTokens : estimateRequest(sent),
    outputTokens: outputTokens > 0 ? outputTokens : seenTokens({ text, calls }) + reasoningTokens,
  };
}

function seenTokens({ text, calls }: Pick<BilledStep, 'text' | 'calls'>): number {
  return calls.reduce((sum, { input }) => sum + estimateJson(input), estimateText(text));
}
