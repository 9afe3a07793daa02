import { estimateJson, estimateRequest, estimateText } from '../context/measure/tokens.ts';
import type { ModelRequest, ModelUsage } from '../ports/model.ts';
import type { BilledStep } from './step.ts';

/** What a call cost in tokens: as the provider reports it, otherwise as estimated, because no call is free. */
export function billedUsage(sent: ModelRequest, { text, calls, usage }: BilledStep): ModelUsage {
  if (usage.inputTokens + usage.outputTokens > 0) return usage;
  const seenTokens = calls.reduce((sum, { input }) => sum + estimateJson(input), estimateText(text));
  const outputTokens = seenTokens + (usage.reasoningTokens ?? 0);
  return { ...usage, inputTokens: estimateRequest(sent), outputTokens };
}
