import { z } from 'zod';
import type { AttachmentPart, Audience, Author, ConversationKey, JsonValue, ToolCallPart } from '../domain/message.ts';
import type { MemoryKind } from '../ports/memory-store.ts';
import type { FinishReason, ModelPurpose, ModelRequest, ModelUsage, ToolSpec } from '../ports/model.ts';
import { didYouMean } from '../util/text/did-you-mean.ts';

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

/** Where the operation takes place, and which agent serves the conversation. */
export interface HookContext {
  readonly conversation: ConversationKey;
  readonly agentId: string;
  readonly audience: Audience;
}

/** The message or edit that an `inbound` hook receives. */
export interface InboundContext extends HookContext {
  readonly externalId: string;
  readonly author: Author;
  readonly addressesBot: boolean;
  /** An edit of a stored message. Dropping it keeps the earlier text; it is never answered. */
  readonly isEdit: boolean;
}

/** What an `inbound` hook may replace before the message is stored. */
export interface InboundChange {
  readonly text: string;
  readonly attachments: readonly AttachmentPart[];
}

/** What becomes of the message. */
export type InboundResult =
  | ({ readonly kind: 'keep' } & InboundChange)
  /** Nothing is stored. */
  | { readonly kind: 'drop'; readonly reason: string }
  /** The message is stored and answered with the text, without a model. */
  | { readonly kind: 'answer'; readonly text: string };

/** The call that a `model` hook receives. */
export interface ModelContext extends HookContext {
  readonly purpose: ModelPurpose;
  /** `provider:model`. */
  readonly model: string;
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens: number;
}

/** What a `model` hook may replace. If the changed request exceeds the window, the call fails with `HOOK_FAILED`. */
export type ModelChange = Pick<ModelRequest, 'system' | 'messages'>;

/** The whole answer of the model. A hook that does not call `next` answers in its place, at no cost. */
export interface ModelResult {
  readonly text: string;
  readonly calls: readonly Omit<ToolCallPart, 'kind'>[];
  readonly finish: FinishReason;
  /** As the provider reported it. It is recorded before the hook sees it, so changing it affects no bill. */
  readonly usage: ModelUsage;
}

/** The call that a `tool` hook receives. */
export interface ToolCallContext extends HookContext {
  readonly tool: string;
  /** Who asked. */
  readonly author: Author;
  /** Of the n-th call of the tool in its turn; unchanged if the turn runs again, for example after a crash. */
  readonly callKey: string;
}

/** What a `tool` hook may replace. The schema of the tool then parses it. */
export interface ToolChange {
  readonly input: JsonValue;
}

/** The result of the call. If the tool throws, `text` says why and `isError` is true. */
export interface ToolOutcome {
  /** The text that the model reads. */
  readonly text: string;
  readonly isError: boolean;
}

/** The post that a `post` hook receives. */
export interface PostContext extends HookContext {
  /** False for `bot.send`. */
  readonly isReply: boolean;
  /** Names of the files sent with the text, which may then be empty. */
  readonly files: readonly string[];
}

/** What a `post` hook may replace. An empty text is an error unless files are sent with it. */
export interface PostChange {
  readonly text: string;
}

/** What becomes of the post. */
export type PostResult =
  | ({ readonly kind: 'post' } & PostChange)
  /** Nobody sees it. The transcript says that a text was withheld, without the text. */
  | { readonly kind: 'hold'; readonly reason: string };

/** The summary to write that a `compaction` hook receives. */
export interface CompactionContext extends HookContext {
  readonly purpose: 'compact' | 'condense' | 'extract';
  /** The source as the model reads it. */
  readonly source: string;
}

/** Nothing: a `compaction` hook can only replace the result. */
export type NoChange = Readonly<Record<never, never>>;

/** The summary, or the reason for having none. */
export type CompactionResult =
  | { readonly kind: 'summary'; readonly text: string }
  /** Nothing changes; the job is retried later. */
  | { readonly kind: 'refuse'; readonly reason: string };

/** The statement that a `memory` hook receives. */
export interface StatementContext {
  /** The key without its thread: memories belong to the whole channel. */
  readonly place: string;
  readonly agentId: string;
  readonly audience: Audience;
  /** `person`: a person asked for it with a command. */
  readonly origin: 'model' | 'person';
  /** Null if it follows from the text. */
  readonly kind: MemoryKind | null;
  /** The person it is about, according to the model or the person. */
  readonly about: string | null;
}

/** What a `memory` hook may replace before the statement is compared with known memories. */
export interface StatementChange {
  readonly text: string;
  /** From 0 to 1; null for the default of its kind. */
  readonly importance: number | null;
}

/** Whether the statement may be saved. A person who asked for it reads the reason of a refusal. */
export type StatementResult =
  | ({ readonly kind: 'save' } & StatementChange)
  | { readonly kind: 'refuse'; readonly reason: string };

const isFunction = (value: unknown): boolean => typeof value === 'function';
const hook = <Of extends (...args: never[]) => unknown>() =>
  z.custom<Of>(isFunction, 'expected a function').exactOptional();

const shape = {
  name: z.string().min(1).exactOptional(),
  inbound: hook<NonNullable<Hooks['inbound']>>(),
  model: hook<NonNullable<Hooks['model']>>(),
  tool: hook<NonNullable<Hooks['tool']>>(),
  post: hook<NonNullable<Hooks['post']>>(),
  compaction: hook<NonNullable<Hooks['compaction']>>(),
  memory: hook<NonNullable<Hooks['memory']>>(),
};

/** Checks that every hook is a function and has a known name. */
export const hooksSchema: z.ZodType<Hooks> = z.strictObject(shape, {
  error: (issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map(unknownHook).join('; ') : undefined),
});

function unknownHook(name: string): string {
  const known = Object.keys(shape);
  const meant = didYouMean(name, known);
  return `there is no hook "${name}"; ${meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`}`;
}
