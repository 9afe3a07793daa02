import type { AssistantModelMessage } from 'ai';
import type { JsonValue, ModelMessage, ToolCall } from '../../../../src/adapter-kit.ts';
import type { Dialect } from './dialect.ts';
import { type Kept, type KeptPart, type Options, readKept, renamed } from './kept.ts';
import { toCallId, toToolName } from './names.ts';

type Said = Extract<ModelMessage, { role: 'assistant' }>;
type Content = Exclude<AssistantModelMessage['content'], string>;

/** A message of the model, with what the provider wants back with its calls. Null for one without content. */
export function toAssistant(message: Said, dialect: Dialect): AssistantModelMessage | null {
  const kept = readKept(message);
  const content = kept === null ? toContent(message) : withKept(message, kept, dialect);
  if (content.length === 0) return null;
  const fields = kept === null ? undefined : fieldsOf(message, kept);
  return { role: 'assistant', content, ...(fields === undefined ? {} : optional({ openaiCompatible: fields })) };
}

function fieldsOf({ calls }: Said, { parts, fields }: Kept): Kept['fields'] {
  if (fields === undefined) return undefined;
  const ids = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  return renamed(fields, new Map(ids.map((id, at) => [id, toCallId(calls[at]?.callId ?? id)])));
}

function toContent({ text, calls }: Said): Content {
  return [...toText(text), ...calls.map((call) => toCall(call, undefined))];
}

function toText(text: string): Content {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function toCall({ callId, tool, input }: ToolCall, options: Options | undefined): Content[number] {
  const call = { toolCallId: toCallId(callId), toolName: toToolName(tool), input: toInput(input) };
  return { type: 'tool-call', ...call, ...optional(options) };
}

/** An unreadable call was stored as received, but providers accept only objects. */
function toInput(input: JsonValue): JsonValue {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { input };
}

function optional(options: Options | undefined) {
  return options === undefined ? {} : { providerOptions: options };
}

/**
 * The parts in the order in which they came. The text is that of the message if it was cleaned since, and calls that came
 * as text follow.
 */
function withKept(message: Said, { parts }: Kept, dialect: Dialect): Content {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const isSameText = texts.join('').trim() === message.text;
  const hasAllCalls = parts.filter(({ kind }) => kind === 'call').length === message.calls.length;
  const calls = (hasAllCalls ? message.calls : []).values();
  const written = parts.flatMap((part): Content => {
    if (part.kind === 'reasoning') return toReasoning(part, dialect);
    if (part.kind === 'text') return isSameText ? toSameText(part) : [];
    const { value: call } = calls.next();
    return call === undefined ? [] : [toCall(call, part.options)];
  });
  const before = written.findIndex(({ type }) => type !== 'reasoning');
  const text = isSameText ? [] : toText(message.text);
  const rest = hasAllCalls ? [] : message.calls.map((call) => toCall(call, undefined));
  return [...written.toSpliced(before === -1 ? written.length : before, 0, ...text), ...rest];
}

type WrittenPart = Extract<KeptPart, { kind: 'reasoning' | 'text' }>;

/** Imitators of Anthropic do not sign. */
const UNSIGNED: Options = { anthropic: { signature: '' } };

/** Where the fields of the message are wanted back, its parts are not. */
function toReasoning({ text, options }: WrittenPart, { reasoning, cache }: Dialect): Content {
  if (reasoning === 'fields') return [];
  return [{ type: 'reasoning', text, ...optional(options ?? (cache === 'anthropic' ? UNSIGNED : undefined)) }];
}

/** Providers reject blank texts, but a signature may belong to one. */
function toSameText({ text, options }: WrittenPart): Content {
  return options === undefined
    ? text.trim() === ''
      ? []
      : [{ type: 'text', text }]
    : [{ type: 'text', text, providerOptions: options }];
}
