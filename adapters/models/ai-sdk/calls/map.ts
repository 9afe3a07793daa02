import type { FinishReason as SdkFinishReason, ModelMessage as SdkMessage, SystemModelMessage } from 'ai';
import { z } from 'zod';
import type { FinishReason, ModelMessage, ModelUsage, SystemBlock, UserContent } from '../../../../src/adapter-kit.ts';
import { toAssistant } from './assistant.ts';
import type { Dialect } from './dialect.ts';
import { withProviderIds } from './kept.ts';
import { toCallId, toToolName } from './names.ts';

type CacheOptions = Record<string, Record<string, { type: 'ephemeral'; ttl?: '1h' }>>;

/** Anthropic accepts four breakpoints: three for the system blocks, one for the messages. */
const MAX_SYSTEM_BREAKPOINTS = 3;

/** The system blocks, stable ones first, with cache breakpoints if the provider supports them. */
export function toInstructions(blocks: readonly SystemBlock[], dialect: Dialect): SystemModelMessage[] {
  const filled = blocks.filter((block) => block.text.trim() !== '');
  if (filled.length === 0) return [];
  if (dialect.mergesRoles && dialect.cache === null) {
    return [{ role: 'system', content: filled.map((block) => block.text).join('\n\n') }];
  }
  const breaks = new Set(filled.filter((block) => block.cacheBreak).slice(-MAX_SYSTEM_BREAKPOINTS));
  return filled.map((block) => ({
    role: 'system',
    content: block.text,
    ...(breaks.has(block) ? cacheOption(dialect, dialect.keepsSystem) : {}),
  }));
}

/** The messages, with a breakpoint on the last but one: everything before the newest is the same next time. */
export function toMessages(messages: readonly ModelMessage[], dialect: Dialect): SdkMessage[] {
  const merged = dialect.mergesRoles ? mergeUsers(messages) : messages;
  const written = withProviderIds(merged).flatMap((message) => toMessage(message, dialect));
  const lastButOne = written.at(-2);
  if (dialect.cache === null || lastButOne === undefined) return written;
  return written.with(-2, marked(lastButOne, dialect.cache));
}

type Cache = NonNullable<Dialect['cache']>;

function cacheOption({ cache }: Dialect, isLong: boolean): { providerOptions?: CacheOptions } {
  return cache === null ? {} : { providerOptions: { [cache]: cacheMark(cache, isLong) } };
}

function cacheMark(cache: Cache, isLong: boolean): CacheOptions[string] {
  const field = cache === 'anthropic' ? 'cacheControl' : 'cache_control';
  return { [field]: { type: 'ephemeral', ...(isLong ? { ttl: '1h' } : {}) } };
}

function marked(message: SdkMessage, cache: Cache): SdkMessage {
  const { providerOptions: given = {} } = message;
  return { ...message, providerOptions: { ...given, [cache]: { ...given[cache], ...cacheMark(cache, false) } } };
}

function toMessage(message: ModelMessage, dialect: Dialect): SdkMessage[] {
  switch (message.role) {
    case 'user':
      return toUser(message.content, dialect);
    case 'assistant':
      return [toAssistant(message, dialect)].filter((said) => said !== null);
    case 'tool':
      return [{ role: 'tool', content: message.results.map(toToolResult) }];
    default:
      return message satisfies never;
  }
}

/** An image whose bytes are missing becomes a word, because a provider would reject the whole request for its link. */
function toUser(content: readonly UserContent[], dialect: Dialect): SdkMessage[] {
  const parts = content.map((part) => {
    if (part.kind === 'text') return { type: 'text', text: part.text } as const;
    if (!part.url.startsWith('data:')) return { type: 'text', text: `[image, ${part.mediaType}]` } as const;
    return { type: 'file', mediaType: part.mediaType, data: new URL(part.url) } as const;
  });
  const filled = parts.filter((part) => part.type === 'file' || part.text.trim() !== '');
  if (filled.length === 0) return [{ role: 'user', content: [{ type: 'text', text: '(an empty message)' }] }];
  const texts = filled.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (dialect.mergesRoles && texts.length === filled.length) {
    return [{ role: 'user', content: [{ type: 'text', text: texts.join('\n\n') }] }];
  }
  return [{ role: 'user', content: filled }];
}

function toToolResult(result: Extract<ModelMessage, { role: 'tool' }>['results'][number]) {
  return {
    type: 'tool-result',
    toolCallId: toCallId(result.callId),
    toolName: toToolName(result.tool),
    output: { type: result.isError ? 'error-text' : 'text', value: result.text || '(no output)' },
  } as const;
}

function mergeUsers(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const merged: ModelMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (message.role === 'user' && last?.role === 'user') {
      merged[merged.length - 1] = { role: 'user', content: [...last.content, ...message.content] };
    } else {
      merged.push(message);
    }
  }
  return merged;
}

/** How a step ended: a domain reason, or why it is not a complete answer. */
export type StepEnd =
  | { readonly kind: 'finished'; readonly reason: FinishReason }
  | { readonly kind: 'cut' | 'overflow' };

export interface StepFacts {
  readonly finishReason: SdkFinishReason;
  readonly rawFinishReason: string | undefined;
  readonly usage: ModelUsage;
  readonly calls: number;
  /** It has no text. */
  readonly isSilent: boolean;
  /** What only this provider reports. */
  readonly providerMetadata?: unknown;
  readonly windowTokens: number | null;
}

/** Reasons in words of their own, by which gateways and smaller providers end an answer. */
const CUT =
  /^(?:error(?:_limit)?|abort(?:ed)?|timeout|network_error|insufficient_system_resource|server_error|load_shed|malformed_(?:response|function_call))$/i;
const LENGTH = /^(?:max_(?:tokens|length|output_tokens)|model_length|token_limit)$/i;
const FILTERED =
  /^(?:safety|blocklist|prohibited_content|spii|recitation|language|sensitive|blocked|error_toxic|guardrail_intervened|content_filter(?:ed)?)$/i;

export function endOf(facts: StepFacts): StepEnd {
  const { finishReason, rawFinishReason } = facts;
  const raw = finishReason === 'other' ? (rawFinishReason ?? '') : '';
  if (rawFinishReason === 'model_context_window_exceeded' || fillsWindow(facts)) return { kind: 'overflow' };
  // Without a finish reason the answer is incomplete: the connection broke.
  if (finishReason === 'interrupted' || finishReason === 'error' || CUT.test(raw)) return { kind: 'cut' };
  if (finishReason === 'other' && rawFinishReason === undefined) return { kind: 'cut' };
  if (finishReason === 'length' || LENGTH.test(raw)) return { kind: 'finished', reason: 'length' };
  if (facts.calls > 0) return { kind: 'finished', reason: 'tool-calls' };
  if (isRefusalInWords(facts)) return { kind: 'finished', reason: 'declined' };
  if (finishReason === 'content-filter' || FILTERED.test(raw))
    return { kind: 'finished', reason: isRequestRefused(facts) ? 'refused' : 'filtered' };
  return { kind: 'finished', reason: finishReason === 'stop' ? 'stop' : 'other' };
}

/** OpenAI's models write a refusal apart from the text. The SDK calls that a filter, although the answer ended by itself. */
function isRefusalInWords({ finishReason, rawFinishReason, isSilent }: StepFacts): boolean {
  return finishReason === 'content-filter' && !isSilent && (rawFinishReason ?? 'stop') === 'stop';
}

/** Some servers report `length` without any text if the prompt alone fills the window. */
function fillsWindow({ finishReason, usage, windowTokens }: StepFacts): boolean {
  if (finishReason !== 'length' || windowTokens === null) return false;
  return usage.outputTokens <= 1 && usage.inputTokens >= windowTokens * 0.99;
}

const feedback = z.object({ google: z.object({ promptFeedback: z.object({ blockReason: z.string() }).nullish() }) });

/**
 * Whether the filter did not let the request through, rather than the answer. Google says so, and Anthropic refuses the
 * conversation as long as the cause is in it. With others, the model has not written anything.
 */
function isRequestRefused({ isSilent, rawFinishReason, providerMetadata, usage }: StepFacts): boolean {
  if (!isSilent) return false;
  const google = feedback.safeParse(providerMetadata).data?.google;
  if (google !== undefined) return Boolean(google.promptFeedback?.blockReason);
  return rawFinishReason === 'refusal' || (usage.inputTokens > 0 && usage.outputTokens === 0);
}
