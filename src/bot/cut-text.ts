import type { Part } from '../domain/message.ts';
import { formatNumber } from '../util/text/text.ts';

/** Reading and indexing take time in proportion to the text, and block all other replies during that time. */
const MAX_TEXT_LENGTH = 1_000_000;

/** The beginning of a text that is longer than any model reads, with a note about the rest. */
export function cutText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const isPair = (text.codePointAt(MAX_TEXT_LENGTH - 1) ?? 0) > 0xffff;
  const head = text.slice(0, isPair ? MAX_TEXT_LENGTH - 1 : MAX_TEXT_LENGTH);
  return `${head}\n[cut here, because the text has ${formatNumber(text.length)} characters]`;
}

export function cutParts(parts: readonly Part[]): readonly Part[] {
  return parts.map((part) => (part.kind === 'text' ? { ...part, text: cutText(part.text) } : part));
}
