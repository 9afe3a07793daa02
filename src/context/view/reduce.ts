import type { JsonValue } from '../../domain/message.ts';
import type { ModelMessage, ToolCall, ToolResult } from '../../ports/model.ts';
import { headBytes } from '../../util/text/utf8.ts';
import { estimateJson } from '../measure/tokens.ts';
import { headWithin, leftOut, type Marker, shorten } from '../measure/truncate.ts';

/** A stub keeps the head of a result or an input that is longer than this many times the head. */
const WORTH_STUBBING = 2;

/** What to leave out of one request. Stored data stays unchanged. */
export interface Reduction {
  /** Whose tool traffic becomes stubs: nobody's, that of older turns, or that of all stored turns. */
  readonly stubs: 'none' | 'old' | 'all';
  /** Maximum tokens of each text except the newest ask. */
  readonly textTokens: number;
  /** Maximum tokens of the newest ask. */
  readonly askTokens: number;
  readonly images: boolean;
  /** Maximum tokens of the sections for the newest message. The longest are left out first. */
  readonly volatileTokens: number;
  /** The share of the stack, from its head, that one line replaces. */
  readonly droppedStackShare: number;
  /** The share of the messages before the newest ask, from the oldest, that is left out. */
  readonly droppedTailShare: number;
  /** The share of their usual space that system sections and tools may take. */
  readonly fixedShare: number;
}

export const NO_REDUCTION: Reduction = {
  stubs: 'none',
  textTokens: Number.POSITIVE_INFINITY,
  askTokens: Number.POSITIVE_INFINITY,
  images: true,
  volatileTokens: Number.POSITIVE_INFINITY,
  droppedStackShare: 0,
  droppedTailShare: 0,
  fixedShare: 1,
};

/** Whether it may leave out anything. */
export function isReduced(reduction: Reduction): boolean {
  const { stubs, textTokens, askTokens, images, volatileTokens, droppedStackShare, droppedTailShare, fixedShare } =
    reduction;
  const isShorter = [textTokens, askTokens, volatileTokens].some(Number.isFinite) || stubs !== 'none' || !images;
  return isShorter || droppedStackShare > 0 || droppedTailShare > 0 || fixedShare < 1;
}

/** The first reduction, from the background tier on. */
export const FIRST_REDUCTION: Reduction = { ...NO_REDUCTION, stubs: 'old' };

/** What to leave out, and the minimum share of the window that the newest ask keeps. */
interface ReductionStep {
  readonly reduction: Reduction;
  readonly askShare: number;
}

/**
 * The reductions for a window in which nothing more may leave the tail, mildest first: tool traffic, texts, extras, old
 * messages.
 */
export function reductionSteps(windowTokens: number): readonly ReductionStep[] {
  const texts = (share: number) => Math.max(8, Math.floor(windowTokens * share));
  const all: Reduction = { ...NO_REDUCTION, stubs: 'all', images: false };
  // The fixed part yields before the last of the stack does.
  const bare: Reduction = {
    ...all,
    volatileTokens: 0,
    droppedStackShare: 0.5,
    fixedShare: 0.5,
    textTokens: texts(1 / 32),
  };
  const last: Reduction = {
    ...bare,
    droppedStackShare: 1,
    droppedTailShare: 1,
    textTokens: texts(1 / 64),
  };
  return [
    { reduction: { ...all, textTokens: texts(1 / 4) }, askShare: 1 / 2 },
    { reduction: { ...all, textTokens: texts(1 / 8) }, askShare: 1 / 4 },
    { reduction: { ...all, textTokens: texts(1 / 16), volatileTokens: 0 }, askShare: 1 / 4 },
    { reduction: bare, askShare: 1 / 8 },
    { reduction: { ...bare, droppedStackShare: 1, textTokens: texts(1 / 64) }, askShare: 1 / 8 },
    { reduction: { ...bare, droppedStackShare: 1, textTokens: texts(1 / 64), droppedTailShare: 0.5 }, askShare: 1 / 8 },
    { reduction: { ...bare, droppedStackShare: 1, textTokens: texts(1 / 64), droppedTailShare: 0.9 }, askShare: 1 / 8 },
    { reduction: last, askShare: 1 / 16 },
    { reduction: { ...last, textTokens: 8 }, askShare: 1 / 64 },
  ];
}

export function stubResult(result: ToolResult, bytes: number, blobId: string | null): ToolResult {
  if (Buffer.byteLength(result.text) <= WORTH_STUBBING * bytes) return result;
  const head = headBytes(result.text, bytes);
  return { ...result, text: `${head}${resultMarker(blobId)(result.text.length - head.length)}` };
}

export function stubCall(call: ToolCall, bytes: number): ToolCall {
  const json = JSON.stringify(call.input);
  const isShort = Buffer.byteLength(json) <= WORTH_STUBBING * bytes;
  return isShort ? call : { ...call, input: excerptInput(json, headBytes(json, bytes)) };
}

export function shortenResult(result: ToolResult, tokens: number, blobId: string | null): ToolResult {
  const text = shorten(result.text, tokens, resultMarker(blobId));
  return text === result.text ? result : { ...result, text };
}

export function shortenCall(call: ToolCall, tokens: number): ToolCall {
  if (estimateJson(call.input) <= tokens) return call;
  const json = JSON.stringify(call.input);
  return { ...call, input: excerptInput(json, headWithin(json, tokens)) };
}

function excerptInput(json: string, head: string): JsonValue {
  return { head, leftOut: `${json.length - head.length} characters` };
}

function resultMarker(blobId: string | null): Marker {
  if (blobId === null) return leftOut;
  return (omitted) => `\n[... ${omitted} characters left out; blob_read reads them: id ${blobId} ...]\n`;
}

/** A message of the running turn with each of its texts shortened to the limit. */
export function shortenMessage(message: ModelMessage, tokens: number): ModelMessage {
  if (!Number.isFinite(tokens)) return message;
  switch (message.role) {
    case 'user':
      return message;
    case 'assistant': {
      const calls = message.calls.map((call) => shortenCall(call, tokens));
      return { role: 'assistant', text: shorten(message.text, tokens), calls };
    }
    case 'tool':
      return { role: 'tool', results: message.results.map((result) => shortenResult(result, tokens, null)) };
    default:
      return message satisfies never;
  }
}

/** The text of a marker for missing messages. The wording for a gap in the stack is part of the product. */
export function gapText(count: number): string {
  return `[System: ${count} older messages were truncated due to context limits]`;
}

/** Replaces the result of a tool that the provider's filter refuses. */
export const REFUSED_RESULT = '[System: this result is left out, because a content filter refused it]';

export function droppedMessagesText(count: number): string {
  return `[System: ${count} earlier messages are left out here to save space]`;
}

export function droppedSummariesText(fromSeq: number, toSeq: number): string {
  return `[System: the summaries of messages #${fromSeq} to #${toSeq} are left out here to save space]`;
}
