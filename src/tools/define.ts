import { z } from 'zod';
import type { OpenedImage } from '../context/view/opened.ts';
import { StrataError } from '../domain/errors.ts';
import type { Audience, Author, ConversationKey, MemoryId } from '../domain/message.ts';
import { faultsOf, nameOf } from '../util/errors/faults.ts';
import type { ChildAnswer, ChildTask } from './spawn.ts';
import type { TurnBlobs } from './turn-blobs.ts';

/** What a tool returns: text, or JSON whose undefined properties are left out. */
export type ToolOutput =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly ToolOutput[]
  | { readonly [key: string]: ToolOutput };

/** A tool that the model may call. `input` is parsed by its schema before `run` sees it. */
export interface Tool<Input = unknown> {
  /** Letters, digits, `_` and `-`; unique within an agent. */
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /**
   * The text that the model reads; without a value it reads "Done.". What `run` throws becomes an error result that the
   * model can react to.
   */
  run(input: Input, context: ToolContext): ToolOutput | Promise<ToolOutput>;
}

/** Where and for whom a tool runs. */
export interface ToolContext {
  readonly conversation: ConversationKey;
  readonly conversationId: number;
  /** The conversation that stores long results: in a child, its own. Default `conversationId`. */
  readonly storedIn?: number;
  /** Long results of the turn until it is stored. Missing outside of a turn. */
  readonly blobs?: TurnBlobs;
  readonly agentId: string;
  readonly audience: Audience;
  /** The author of the newest message that the turn reads. */
  readonly author: Author;
  /**
   * Counts the calls of the tool in its turn, and stays the same when the turn runs again, for example after a crash. So a
   * tool with effects can recognise the repetition. Its input may be another one.
   */
  readonly callKey: string;
  readonly readUpto: number;
  /** Tokens of the model's window, of which a result should take a small part. Missing outside of a turn. */
  readonly windowTokens?: number;
  /** The claim of the turn. Writes can be bound to it, so that nothing is saved once the claim is lost. */
  readonly replyEpoch?: number;
  /** For tools that return memories: if one of them is forgotten before the reply is stored, the turn starts again. */
  readonly onGiven?: (ids: readonly MemoryId[]) => void;
  /** For tools that return images: the model sees them after the results, until the turn ends. Missing if it sees none. */
  readonly onImages?: (images: readonly OpenedImage[]) => void;
  /** Aborts when the turn ends, or when the call has taken a minute, not counting `spawn`. */
  readonly signal: AbortSignal;
  /**
   * Lets the agent's model do a part of the work in a conversation of its own, and returns its answer. Nobody sees that
   * conversation, and nothing of it is kept. Throws `CHILD_LIMIT` and `CHILD_FAILED`.
   */
  spawn(task: ChildTask): Promise<ChildAnswer>;
}

/**
 * Declares a tool; the input's type follows from its schema. Throws `TOOL_INVALID`.
 *
 * @example
 * const stock = defineTool({
 *   name: 'stock',
 *   description: 'Returns how many pieces of an article are in stock.',
 *   input: z.object({ article: z.string().describe('Number of the article') }),
 *   run: async ({ article }, { signal }) => {
 *     const response = await fetch(`https://shop.example.org/stock/${article}`, { signal });
 *     return await response.text();
 *   },
 * });
 */
export function defineTool<Input>(tool: Tool<Input>): Tool<Input> {
  const faults = faultsOf(definitionSchema, tool);
  if (faults.length === 0) return tool;
  throw new StrataError('TOOL_INVALID', { tool: nameOf(tool), problem: faults.join('; ') });
}

const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'safeParse' in value && '_zod' in value;

const definitionSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  input: z.custom(isSchema, 'expected z.object({ … }) of zod 4'),
  run: z.custom((value) => typeof value === 'function', 'expected a function'),
});
