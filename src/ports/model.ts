import type { JsonValue } from '../domain/message.ts';

/** One model, called for one step at a time. The tool loop, the gate and the retries belong to the core. */
export interface ChatModel {
  /** `provider:model`. */
  readonly id: string;
  readonly traits: ModelTraits;
  /**
   * Streams one step. Ends with exactly one `finish` part or throws a `ModelError`. Stalls, dropped streams and aborts
   * throw too, so a partial answer is never mistaken for a complete one. Does not retry.
   */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>;
}

/** What a model can do. */
export interface ModelTraits {
  /** The window in tokens if the provider reports it; null if only the configuration can tell. */
  readonly windowTokens: number | null;
  /** The largest window that a request can ask for; null if unknown. Default: `windowTokens`. */
  readonly largestWindowTokens?: number | null;
  readonly tools: boolean;
  readonly images: boolean;
  /** How long the provider keeps the prefix of a request after its last use. Default: five minutes. */
  readonly cacheMs?: number;
}

/** Opens models by id. */
export interface ModelProvider {
  /** Throws `MODEL_UNKNOWN`, `MODEL_KEY_MISSING` or `MODEL_KEY_INVALID`. Loads the provider's SDK on first use. */
  open(modelId: string): Promise<ChatModel>;
  /** The model to use if the configuration says `auto`, with the reason in one line. */
  choose(): Promise<{ readonly modelId: string; readonly reason: string }>;
}

/** An optional part of a `ModelProvider`. With it, a bot rejects agents whose model the provider can't open. */
export interface KnownProviders {
  /** The first parts of the ids that `open` knows. */
  readonly providers: readonly string[];
}

/** One model call, the same for every provider. */
export interface ModelRequest {
  /** Attributes costs, and informs the built-in model; providers never see it. */
  readonly purpose: ModelPurpose;
  /** In the order in which providers cache them: stable parts first. */
  readonly system: readonly SystemBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** `none`: answer now, without calling any of the tools. Default: the model decides. */
  readonly toolChoice?: 'none';
  readonly maxOutputTokens: number;
  /** Ask for one JSON object; used with models without tools. */
  readonly json: boolean;
  /** The window that the caller assumes, for servers that allocate it per request. */
  readonly windowTokens?: number;
  /** The same for requests that share a prefix, for providers that keep prefixes by such a key. Default: none. */
  readonly cacheKey?: string;
  /** From 0 to 2. Default: the provider's. */
  readonly temperature?: number;
  /** How much the model reasons before it answers. Default: the provider's. */
  readonly effort?: Effort;
  /** Options of the SDK of a provider, by provider. Models of other providers ignore them. Default: none. */
  readonly providerOptions?: ProviderOptions;
}

/** How much a model may reason, from nothing to as much as it can. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** Options by the name of the provider and of the option, passed on unchecked. From `provider_options` of the agent. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;

/**
 * `rerun`: a stored reply once more, without posting it, or a part of a request that a filter refused. `child`: an answer
 * in a child conversation, of the same form as a reply.
 */
export type ModelPurpose = 'reply' | 'rerun' | 'child' | 'compact' | 'condense' | 'extract';

/** A piece of a system prompt. */
export interface SystemBlock {
  readonly text: string;
  /** A provider with explicit cache breakpoints sets one after this block. */
  readonly cacheBreak: boolean;
}

/** One message of a request. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly UserContent[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** What this very model gave with its `finish` when it made these calls. Only until the turn ends. Default: none. */
      readonly reasoning?: string;
    }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

/**
 * A piece of a message of a person. The `url` of an image is `https:`, `http:` or `data:`; links of platforms may
 * expire.
 */
export type UserContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly url: string };

/** A call that a model asks for. */
export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

/** What a model reads of the result of a call. */
export interface ToolResult {
  readonly callId: string;
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
}

/** A tool as a model knows it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input object. */
  readonly inputSchema: { readonly [key: string]: JsonValue };
}

/** What a model streams. */
export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  /**
   * A piece of reasoning. Nobody reads it: it only counts if the call ends without a `usage`. Empty if the provider shows
   * only that the model has begun, or if a piece of text is held back because it may be reasoning.
   */
  | { readonly kind: 'reasoning'; readonly text: string }
  /** The text so far was reasoning, which nobody should read. The answer begins after this. */
  | { readonly kind: 'retract' }
  | { readonly kind: 'call'; readonly call: ToolCall }
  | {
      readonly kind: 'finish';
      readonly reason: FinishReason;
      readonly usage: ModelUsage;
      /**
       * What the provider wants back with the calls of this step, such as the reasoning before them with its signature,
       * in a form that only the model reads. It is in the message with these calls while the turn runs, and is neither
       * stored nor shown. At most a million characters; more is dropped. Default: none.
       */
      readonly reasoning?: string;
    };

/**
 * Why the model ended: it was done (`stop`), reached `maxOutputTokens` or the end of its window (`length`), asks for
 * tools (`tool-calls`), refused in words, which are its answer (`declined`), or its content filter stopped it (`filtered`)
 * or did not let the request through (`refused`; a `ModelError` with this reason is the same without a `usage`).
 */
export const FINISH_REASONS = ['stop', 'length', 'tool-calls', 'declined', 'filtered', 'refused', 'other'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/** Tokens of calls. Cached tokens are part of the input, reasoning tokens part of the output. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Those of the written tokens that the provider keeps for an hour at a higher price. Default 0. */
  readonly hourCacheWriteTokens?: number;
  readonly reasoningTokens: number;
}

/** For this step alone, never a sum. Zero input means that the provider did not report it. */
export interface ModelUsage extends Omit<TokenCounts, 'reasoningTokens'> {
  /** Default 0. */
  readonly reasoningTokens?: number;
  /**
   * Billed in addition, for calls that the provider makes on its own, such as summarising the request. Default none.
   */
  readonly ownPasses?: Omit<TokenCounts, 'reasoningTokens'>;
}
