import type { Step } from '../../models/step.ts';
import type { Effort, ModelRequest } from '../../ports/model.ts';

/** Most tokens that reasoning took in one call, by model. Grows. */
export type SeenReasoning = Map<string, number>;

/** What a model may spend at each effort. */
const EFFORT_TOKENS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 4096,
  high: 8192,
  xhigh: 16_384,
  max: 16_384,
};
/** Another call may reason longer than the longest so far. */
const MARGIN = 1.5;
const MAX_TOKENS = 16_384;
const MAX_SHARE = 1 / 4;

/** A model and its settings. Providers count reasoning as output, so it needs room besides the answer. */
export interface Reasoner {
  readonly model: { readonly id: string };
  readonly windowTokens: number;
  readonly settings: Pick<ModelRequest, 'effort'>;
  readonly reasoning: SeenReasoning;
}

/** The tokens kept free for reasoning: what the effort allows, or what this model has needed. */
export function reasoningRoom({ model, windowTokens, settings, reasoning }: Reasoner): number {
  const expected = settings.effort === undefined ? 0 : EFFORT_TOKENS[settings.effort];
  const seen = Math.ceil((reasoning.get(model.id) ?? 0) * MARGIN);
  return Math.min(MAX_TOKENS, Math.floor(windowTokens * MAX_SHARE), Math.max(expected, seen));
}

/** Learns from a call. Output without an answer was reasoning, also if the provider does not report it. */
export function learnReasoning({ model, reasoning }: Pick<Reasoner, 'model' | 'reasoning'>, step: Step): void {
  const { usage, text, calls, finish } = step;
  const isSilent = finish === 'length' && text.trim() === '' && calls.length === 0;
  const spent = Math.max(usage.reasoningTokens ?? 0, isSilent ? usage.outputTokens : 0);
  if (spent > (reasoning.get(model.id) ?? 0)) reasoning.set(model.id, spent);
}
