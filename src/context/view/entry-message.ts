import { MESSAGE_OPEN } from '../../domain/lookups.ts';
import { type AttachmentPart, type Entry, type Part, textOf } from '../../domain/message.ts';
import type { ModelMessage, ToolCall, ToolResult } from '../../ports/model.ts';
import { indentLines, underLabel, visibleText } from '../../util/text/foreign-text.ts';
import { UTC } from '../../util/time/local-time.ts';
import { estimateMessages, estimateText } from '../measure/tokens.ts';
import { leftOut, type Marker, shorten } from '../measure/truncate.ts';
import { labelOf, plainName } from './label.ts';
import { isPicture } from './pictures.ts';
import { shortenCall, shortenResult, stubCall, stubResult } from './reduce.ts';

/** One entry as a model sees it. `line` is set for messages of people: adjacent ones are joined into one message. */
export interface EntryMessage {
  readonly message: ModelMessage;
  readonly line: string | null;
  readonly tokens: number;
  /** Seq of the message that its label says it replies to; null for none. */
  readonly replySeq: number | null;
}

export interface EntryMessageOptions {
  /** Bytes that stubs keep of tool traffic; null for the whole of it. */
  readonly stubBytes: number | null;
  /** Maximum tokens of one text. */
  readonly textTokens: number;
  /** Seq of the message that this one replies to, if it is nearby. */
  readonly replySeq: (entry: Entry) => number | null;
  /** Time zone of the times in labels. Default: UTC. */
  readonly timeZone?: string;
  /** The model can open messages: what is cut says how. Default: it can't. */
  readonly opens?: boolean;
}

const REMOVED = '(removed)';

/**
 * Entries are immutable, and an edited entry is a new object, so a rendered entry is cached as long as the entry lives.
 * One cache for each size of stubs and time zone of the labels.
 */
const cachesByForm = new Map<string, WeakMap<Entry, EntryMessage>>();

export function entryMessageOf(entry: Entry, options: EntryMessageOptions): EntryMessage {
  if (Number.isFinite(options.textTokens)) return render(entry, options);
  const { stubBytes, timeZone = UTC } = options;
  const form = `${hasToolTraffic(entry) ? stubBytes : null} ${timeZone}`;
  const cache = cachesByForm.get(form) ?? new WeakMap<Entry, EntryMessage>();
  cachesByForm.set(form, cache);
  const known = cache.get(entry);
  if (known !== undefined) return known;
  const entryMessage = render(entry, options);
  cache.set(entry, entryMessage);
  return entryMessage;
}

/** Only tool traffic is ever shown as stubs. */
export function hasToolTraffic({ role, parts }: Entry): boolean {
  return role === 'tool' || (role === 'assistant' && parts.some(({ kind }) => kind === 'tool-call'));
}

function render(entry: Entry, options: EntryMessageOptions): EntryMessage {
  const message = messageOf(entry, options);
  const line = message.role === 'user' && message.content[0]?.kind === 'text' ? message.content[0].text : null;
  const replySeq = line === null ? null : options.replySeq(entry);
  return { message, line, tokens: estimateMessages([message]), replySeq };
}

function messageOf(entry: Entry, options: EntryMessageOptions): ModelMessage {
  switch (entry.role) {
    case 'user':
    case 'notice': {
      const label = labelOf(entry, options.replySeq(entry), options.timeZone);
      const text = underLabel(label, personText(entry, options));
      return { role: 'user', content: [{ kind: 'text', text }] };
    }
    case 'assistant':
      return {
        role: 'assistant',
        text: shorten(entry.redactedAt === null ? spoken(entry.parts) : REMOVED, options.textTokens),
        calls: entry.parts.flatMap((part) => (part.kind === 'tool-call' ? [callOf(part, options)] : [])),
      };
    case 'tool':
      return {
        role: 'tool',
        results: entry.parts.flatMap((part) => (part.kind === 'tool-result' ? [resultOf(part, options)] : [])),
      };
    default:
      return entry.role satisfies never;
  }
}

function personText(entry: Entry, { textTokens, opens = false }: EntryMessageOptions): string {
  if (entry.redactedAt !== null) return REMOVED;
  const isCut = opens && Number.isFinite(textTokens);
  const marker: Marker = (omitted) =>
    `\n[... ${omitted} characters left out; ${MESSAGE_OPEN} reads message ${entry.seq} ...]\n`;
  const text = visibleText(spoken(entry.parts, isCut));
  return withinTokens(text, textTokens, isCut ? marker : leftOut);
}

/**
 * Shortened so that it fits the limit with its lines indented. Indentation is applied last, because a cut can start a
 * line anywhere.
 */
function withinTokens(text: string, tokens: number, marker: Marker): string {
  const cut = shorten(text, tokens, marker);
  if (!Number.isFinite(tokens)) return cut;
  const indented = estimateText(indentLines(cut));
  return indented <= tokens ? cut : shorten(text, Math.floor((tokens * tokens) / indented), marker);
}

function spoken(parts: readonly Part[], opens = false): string {
  const references = parts.flatMap((part) => (part.kind === 'attachment' ? [referenceTo(part, opens)] : []));
  return [textOf(parts), ...references].filter((text) => text !== '').join('\n');
}

/** Name, type and size. Bytes are never written out. */
function referenceTo(part: AttachmentPart, opens: boolean): string {
  const { name, mediaType, sizeBytes } = part;
  const how = opens && isPicture(part) ? `; ${MESSAGE_OPEN} shows it` : '';
  const size = sizeBytes < 1024 ? `${sizeBytes} bytes` : `${Math.round(sizeBytes / 1024)} kB`;
  return `(attachment: ${plainName(name)}, ${plainName(mediaType)}, ${size}${how})`;
}

function callOf(part: Extract<Part, { kind: 'tool-call' }>, { stubBytes, textTokens }: EntryMessageOptions): ToolCall {
  const call = { callId: part.callId, tool: part.tool, input: part.input };
  return shortenCall(stubBytes === null ? call : stubCall(call, stubBytes), textTokens);
}

function resultOf(
  part: Extract<Part, { kind: 'tool-result' }>,
  { stubBytes, textTokens }: EntryMessageOptions,
): ToolResult {
  const { callId, tool, text, isError } = part;
  const blobId = part.blob?.id ?? null;
  const result = { callId, tool, text, isError };
  return shortenResult(stubBytes === null ? result : stubResult(result, stubBytes, blobId), textTokens, blobId);
}
