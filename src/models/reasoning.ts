import { isDeepStrictEqual } from 'node:util';
import { estimateText } from '../context/measure/tokens.ts';
import type { ChatModel, ModelMessage, ModelUsage } from '../ports/model.ts';

/** What a model wants back with its calls until the turn ends. It stays in memory, and nobody reads it. */
export interface Reasoning {
  /** The id of the model that wrote it. No other one gets it. */
  readonly model: string;
  /** In a form that only the model's adapter knows. */
  readonly content: string;
  /** As the provider counts it, or estimated. */
  readonly tokens: number;
}

/** A message of the running turn, and what the model thought before it. */
export interface ReasonedMessage {
  readonly message: ModelMessage;
  readonly reasoning: Reasoning;
}

/** Signatures of a part do not fit, so longer ones are dropped as a whole. The longest real ones have half of this. */
const MAX_CHARACTERS = 1_000_000;

/** Null for what a model without a compiler gives in another form, and for what is too long to be kept. */
export function reasoningOf({ id }: Pick<ChatModel, 'id'>, content: unknown, usage: ModelUsage): Reasoning | null {
  if (typeof content !== 'string' || content === '' || content.length > MAX_CHARACTERS) return null;
  return { model: id, content, tokens: usage.reasoningTokens || estimateText(content) };
}

/**
 * The messages with the reasoning of this model. A message that a hook has changed, or that was shortened, goes without:
 * its signature is for other calls.
 */
export function withReasoning(
  messages: readonly ModelMessage[],
  reasoned: readonly ReasonedMessage[],
  { id }: Pick<ChatModel, 'id'>,
): readonly ModelMessage[] {
  const own = reasoned.filter(({ reasoning }) => reasoning.model === id);
  if (own.length === 0) return messages;
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.calls.length === 0) return message;
    const found = own.find((one) => isDeepStrictEqual(one.message, message));
    return found === undefined ? message : { ...message, reasoning: found.reasoning.content };
  });
}

export function hasReasoning(messages: readonly ModelMessage[]): boolean {
  return messages.some((message) => message.role === 'assistant' && message.reasoning !== undefined);
}
