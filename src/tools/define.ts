import type { z } from 'zod';
import type { Audience, Author, ConversationKey, JsonValue } from '../domain/message.ts';

/** A tool that the model may call. `input` is parsed by its schema before `run` sees it. */
export interface Tool<Input = unknown> {
  /** Letters, digits and underscores; unique within an agent. */
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** What the model reads; without a value it reads "Done.". A rejection becomes an error result that it can react to. */
  run(input: Input, context: ToolContext): Promise<JsonValue | undefined>;
}

export interface ToolContext {
  readonly conversation: ConversationKey;
  readonly conversationId: number;
  readonly agentId: string;
  readonly audience: Audience;
  /** Who asked: the author of the newest message that the turn reads. */
  readonly author: Author;
  /** The same for the same call when a turn is run again after a crash: a tool with effects can recognise the repetition. */
  readonly callKey: string;
  readonly readUpto: number;
  /** The claim under which the turn runs. What is saved for it can be bound to it: a claim that is lost saves nothing. */
  readonly replyEpoch?: number;
  readonly signal: AbortSignal;
}

/** Declares a tool; the input's type follows from its schema. */
export function defineTool<Input>(tool: Tool<Input>): Tool<Input> {
  return tool;
}
