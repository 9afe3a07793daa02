import { z } from 'zod';
import type { AttachmentPart, Audience, Author, ConversationKey, JsonValue, ToolCallPart } from '../domain/message.ts';
import type { MemoryKind } from '../ports/memory-store.ts';
import type { FinishReason, ModelPurpose, ModelRequest, ModelUsage, ToolSpec } from '../ports/model.ts';

/**
 * Middleware: receives an operation and `next`, which performs it and resolves with the result. A value passed to
 * `next` replaces fields of the operation. Without a call of `next`, inner layers do not run, and the hook's own result
 * counts. `next` may be called once. A hook that throws, or takes longer than ten seconds of its own, fails the turn or
 * the job.
 */
export type Hook<Context, Change, Result> = (
  context: Context & Change & { readonly signal: AbortSignal },
  next: (change?: Partial<Change>) => Promise<Result>,
) => Result | Promise<Result>;

/** Hooks by the operation that they wrap. The first in the list is the outermost. */
export interface Hooks {
  /** Named in errors. Default: the name of the plugin, or `createBot`. */
  readonly name?: string;
  /** Around a message or an edit, before it is stored. */
  readonly inbound?: Hook<InboundContext, InboundChange, InboundResult>;
  /** Around one call of a model, for replies, summaries and memories alike. Replies are not shown while they are written. */
  readonly model?: Hook<ModelContext, ModelChange, ModelResult>;
  /** Around the call of an offered tool. */
  readonly tool?: Hook<ToolCallContext, ToolChange, ToolOutcome>;
  /** Around a post of the bot, before it is stored. Replies are not shown while they are written. */
  readonly post?: Hook<PostContext, PostChange, PostResult>;
  /** Around the writing of one summary, including its model calls. The result is checked like any summary. */
  readonly compaction?: Hook<CompactionContext, NoChange, CompactionResult>;
  /** Around a statement to be remembered, before its admission. */
  readonly memory?: Hook<StatementContext, StatementChange, StatementResult>;
}

interface Where {
  readonly conversation: ConversationKey;
  readonly agentId: string;
  readonly audience: Audience;
}

export interface InboundContext extends Where {
  readonly externalId: string;
  readonly author: Author;
  readonly addressesBot: boolean;
  /** An edit of a stored message. Dropping it keeps the earlier text; it is never answered. */
  readonly isEdit: boolean;
}

export interface InboundChange {
  readonly text: string;
  readonly attachments: readonly AttachmentPart[];
}

export type InboundResult =
  | ({ readonly kind: 'keep' } & InboundChange)
  /** Nothing is stored. */
  | { readonly kind: 'drop'; readonly reason: string }
  /** The message is stored and answered with the text, without a model. */
  | { readonly kind: 'answer'; readonly text: string };

export interface ModelContext extends Where {
  readonly purpose: ModelPurpose;
  /** `provider:model`. */
  readonly model: string;
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens: number;
}

export type ModelChange = Pick<ModelRequest, 'system' | 'messages'>;

export interface ModelResult {
  readonly text: string;
  readonly calls: readonly Omit<ToolCallPart, 'kind'>[];
  readonly finish: FinishReason;
  /** As the provider reported it. It is recorded before the hook sees it, so changing it affects no bill. */
  readonly usage: ModelUsage;
}

export interface ToolCallContext extends Where {
  readonly tool: string;
  /** Who asked. */
  readonly author: Author;
  /** Unchanged if the turn runs again after a crash. */
  readonly callKey: string;
}

export interface ToolChange {
  readonly input: JsonValue;
}

export interface ToolOutcome {
  /** The text that the model reads. */
  readonly text: string;
  readonly isError: boolean;
}

export interface PostContext extends Where {
  /** False for `bot.send`. */
  readonly isReply: boolean;
  /** Names of the files sent with the text, which may then be empty. */
  readonly files: readonly string[];
}

export interface PostChange {
  readonly text: string;
}

export type PostResult =
  | ({ readonly kind: 'post' } & PostChange)
  /** Nobody sees it. The transcript says that a text was withheld, without the text. */
  | { readonly kind: 'hold'; readonly reason: string };

export interface CompactionContext extends Where {
  readonly purpose: 'compact' | 'condense' | 'extract';
  /** The source as the model reads it. */
  readonly source: string;
}

export type NoChange = Readonly<Record<never, never>>;

export type CompactionResult =
  | { readonly kind: 'summary'; readonly text: string }
  /** Nothing changes; the job is retried later. */
  | { readonly kind: 'refuse'; readonly reason: string };

export interface StatementContext {
  readonly place: string;
  readonly agentId: string;
  readonly audience: Audience;
  /** `person`: somebody asked for it with a command. */
  readonly origin: 'model' | 'person';
  /** Null if it follows from the text. */
  readonly kind: MemoryKind | null;
  /** The person it is about, according to the model or the person. */
  readonly about: string | null;
}

export interface StatementChange {
  readonly text: string;
  /** From 0 to 1; null for the default of its kind. */
  readonly importance: number | null;
}

export type StatementResult =
  | ({ readonly kind: 'save' } & StatementChange)
  | { readonly kind: 'refuse'; readonly reason: string };

const isFunction = (value: unknown): boolean => typeof value === 'function';
const hook = <Of extends (...args: never[]) => unknown>() =>
  z.custom<Of>(isFunction, 'expected a function').exactOptional();

/** Checks that every hook is a function and has a known name. */
export const hooksSchema: z.ZodType<Hooks> = z.strictObject({
  name: z.string().min(1).exactOptional(),
  inbound: hook<NonNullable<Hooks['inbound']>>(),
  model: hook<NonNullable<Hooks['model']>>(),
  tool: hook<NonNullable<Hooks['tool']>>(),
  post: hook<NonNullable<Hooks['post']>>(),
  compaction: hook<NonNullable<Hooks['compaction']>>(),
  memory: hook<NonNullable<Hooks['memory']>>(),
});
