import type { JsonValue } from '../domain/message.ts';

/** One model, called one step at a time. The tool loop, the gate and the retries are the core's. */
export interface ChatModel {
  /** `provider:model`. */
  readonly id: string;
  readonly traits: ModelTraits;
  /**
   * Streams one step. Ends with exactly one `finish` part or throws a `ModelError`; a stall, a cut stream and an abort
   * throw too, so that a partial answer is never taken for a whole one. No retries inside.
   */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>;
}

export interface ModelTraits {
  /** The window in tokens where the provider tells it; null where only configuration can. */
  readonly windowTokens: number | null;
  readonly tools: boolean;
  readonly images: boolean;
}

/** Opens models by id. */
export interface ModelProvider {
  /** Throws `MODEL_UNKNOWN` or `MODEL_KEY_MISSING`. Loads the provider's SDK on first use. */
  open(modelId: string): Promise<ChatModel>;
  /** Which model to use when the configuration says `auto`, and one line that says why. */
  choose(): Promise<{ readonly modelId: string; readonly reason: string }>;
}

export interface ModelRequest {
  /** For attribution of cost, and for the built-in model; providers never see it. */
  readonly purpose: ModelPurpose;
  /** In the order in which a provider caches them: stable first. */
  readonly system: readonly SystemBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens: number;
  /** Ask for one JSON object: used with models that have no tools. */
  readonly json: boolean;
  /** The window that the caller counts with, for servers that size it by request. */
  readonly windowTokens?: number;
}

export type ModelPurpose = 'reply' | 'compact' | 'condense' | 'extract';

export interface SystemBlock {
  readonly text: string;
  /** A provider with explicit cache breakpoints sets one after this block. */
  readonly cacheBreak: boolean;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly UserContent[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export type UserContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly url: string };

export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
}

export interface ToolResult {
  readonly callId: string;
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input object. */
  readonly inputSchema: { readonly [key: string]: JsonValue };
}

export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly usage: ModelUsage };

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'filtered' | 'other';

/** Tokens of calls. Cached ones are part of the input, reasoning is part of the output. */
export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

/** Of this step alone, never a sum. Zero input means that the provider did not report it. */
export interface ModelUsage extends Omit<TokenCounts, 'reasoningTokens'> {
  /** Default 0. */
  readonly reasoningTokens?: number;
  /** Billed in addition, for passes that the provider makes on its own, such as summarising the request. Default none. */
  readonly ownPasses?: Omit<TokenCounts, 'reasoningTokens'>;
}
