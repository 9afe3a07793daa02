import type { JsonValue, Part } from '../../domain/message.ts';
import type { ModelMessage, SystemBlock, ToolCall, ToolResult, ToolSpec, UserContent } from '../../ports/model.ts';

/** What a provider adds to each message, call, result, tool and request. */
const MESSAGE_TOKENS = 4;
const CALL_TOKENS = 8;
const TOOL_TOKENS = 10;
const REQUEST_TOKENS = 3;
/** An image costs about the same regardless of its bytes. */
const IMAGE_TOKENS = 1000;
/** A file or an image that is not sent appears as a short reference, never as bytes. */
const REFERENCE_TOKENS = 40;

/** Weights are whole numbers, so that sums don't depend on the order of a text. */
export const WEIGHT_OF_TOKEN = 100;
/**
 * Weight of a UTF-16 unit by character class, fitted to chat, code and JSON. Digits and signs cost more than letters.
 */
const LETTER = 21;
const CAPITAL = 30;
const BLANK = 15;
const DIGIT = 60;
const SIGN = 55;
/** Greek, Cyrillic, Hebrew, Arabic, Indic scripts, Thai and similar. */
const ALPHABET = 45;
const IDEOGRAPH = 80;
/** Accented Latin letters, typographic signs, emoji (each half of a surrogate pair), and everything rarer. */
const OTHER = 90;
/**
 * A tokenizer knows hardly a word of some scripts, and spends up to a token on each byte of them. Each row: the first
 * unit, the end, and the weight. Other units cost as much as `OTHER`.
 */
const ROWS: readonly (readonly [number, number, number])[] = [
  [0x0370, 0x1100, ALPHABET],
  // Syriac, Thaana, N'Ko and others
  [0x0700, 0x0750, 185],
  [0x0780, 0x0870, 185],
  // Gurmukhi, Odia, Sinhala, Lao, Tibetan, Burmese
  [0x0a00, 0x0a80, 60],
  [0x0b00, 0x0b80, 100],
  [0x0d80, 0x0e00, 65],
  [0x0e80, 0x0f00, 175],
  [0x0f00, 0x1000, 150],
  [0x1000, 0x10a0, 70],
  [0x1100, 0x1200, IDEOGRAPH],
  // Ethiopic
  [0x1200, 0x13a0, 175],
  // From Cherokee to the Philippine scripts; from Mongolian to the Georgian capitals
  [0x13a0, 0x1780, 260],
  [0x1800, 0x1d00, 260],
  // Tifinagh and its neighbours
  [0x2d00, 0x2e00, 230],
  [0x2e80, 0xa000, IDEOGRAPH],
  // Yi, Vai, Javanese and others
  [0xa000, 0xac00, 200],
  [0xac00, 0xd7b0, IDEOGRAPH],
  // First halves of pairs, of rare scripts and of rare ideographs
  [0xd800, 0xd830, 280],
  [0xd840, 0xdb40, 210],
  [0xf900, 0xfb00, IDEOGRAPH],
  [0xff00, 0xfff0, IDEOGRAPH],
];
/** All rows begin and end at a multiple of 16. */
const ROW_BITS = 4;

const ascii = Uint8Array.from({ length: 128 }, (_, code) => asciiWeight(code));

function asciiWeight(code: number): number {
  if (code <= 32) return BLANK;
  if (code >= 97 && code <= 122) return LETTER;
  if (code >= 65 && code <= 90) return CAPITAL;
  return code >= 48 && code <= 57 ? DIGIT : SIGN;
}

const wide = new Uint16Array(0x10000 >> ROW_BITS).fill(OTHER);
for (const [from, to, weight] of ROWS) wide.fill(weight, from >> ROW_BITS, to >> ROW_BITS);

/** The weight of one UTF-16 unit; `WEIGHT_OF_TOKEN` is an estimated token. */
export function unitWeight(code: number): number {
  return code < 128 ? (ascii[code] ?? SIGN) : (wide[code >> ROW_BITS] ?? OTHER);
}

/** Tokens of a text by the classes of its characters, as a whole number; zero for an empty text. */
export function estimateText(text: string): number {
  let weight = 0;
  for (let index = 0; index < text.length; index += 1) weight += unitWeight(text.charCodeAt(index));
  return Math.ceil(weight / WEIGHT_OF_TOKEN);
}

export function estimateJson(value: JsonValue): number {
  return estimateText(JSON.stringify(value));
}

/** The tokens of an entry with these parts in the view, without its label. Stored with the entry. */
export function estimateParts(parts: readonly Part[]): number {
  let sum = MESSAGE_TOKENS;
  for (const part of parts) sum += partTokens(part);
  return sum;
}

function partTokens(part: Part): number {
  switch (part.kind) {
    case 'text':
      return estimateText(part.text);
    case 'attachment':
      return REFERENCE_TOKENS;
    case 'tool-call':
      return callTokens(part);
    case 'tool-result':
      return resultTokens(part);
    default:
      return part satisfies never;
  }
}

function callTokens(call: Pick<ToolCall, 'tool' | 'input'>): number {
  return CALL_TOKENS + estimateText(call.tool) + estimateJson(call.input);
}

function resultTokens(result: Pick<ToolResult, 'text'>): number {
  return CALL_TOKENS + estimateText(result.text);
}

export function estimateMessages(messages: readonly ModelMessage[]): number {
  let sum = 0;
  for (const message of messages) sum += messageTokens(message);
  return sum;
}

function messageTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.content.reduce((sum, content) => sum + contentTokens(content), MESSAGE_TOKENS);
    case 'assistant':
      return message.calls.reduce((sum, call) => sum + callTokens(call), MESSAGE_TOKENS + writtenTokens(message));
    case 'tool':
      return message.results.reduce((sum, result) => sum + resultTokens(result), MESSAGE_TOKENS);
    default:
      return message satisfies never;
  }
}

function writtenTokens({ text, reasoning = '' }: Extract<ModelMessage, { role: 'assistant' }>): number {
  return estimateText(text) + estimateText(reasoning);
}

function contentTokens(content: UserContent): number {
  return content.kind === 'image' ? IMAGE_TOKENS : estimateText(content.text);
}

/** Name, description and schema of every offered tool. */
export function estimateTools(tools: readonly ToolSpec[]): number {
  let sum = 0;
  for (const tool of tools) {
    sum += TOOL_TOKENS + estimateText(tool.name) + estimateText(tool.description) + estimateJson(tool.inputSchema);
  }
  return sum;
}

export function estimateBlock(block: Pick<SystemBlock, 'text'>): number {
  return MESSAGE_TOKENS + estimateText(block.text);
}

/** A whole request as a provider would count it. */
export function estimateRequest(request: {
  readonly system: readonly SystemBlock[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
}): number {
  const system = request.system.reduce((sum, block) => sum + estimateBlock(block), REQUEST_TOKENS);
  return system + estimateMessages(request.messages) + estimateTools(request.tools);
}
