import { type PostBody, tidyReply } from '../../../../src/adapter-kit.ts';
import { type Block, fenceAt, findBlocks, ownMarker } from './blocks.ts';
import { type Cut, createCutter } from './cut.ts';

/** Discord's limit of characters per message. */
export const MESSAGE_LENGTH = 2000;

/**
 * Splits a reply into messages. Without the markers that close and reopen a code block across messages, the joined
 * bodies are the text. A table too large for one message becomes a file.
 */
export function split(
  text: string,
  options: {
    readonly limit: number;
    /** More messages than this become one file. */
    readonly fileAbove: number;
  },
): readonly PostBody[] {
  const tidy = tidyReply(text);
  if (tidy === '') return [];
  const found = sections(tidy, options.limit);
  const length = found.reduce((sum, { text: own, isWide }) => sum + (isWide ? 0 : own.length), 0);
  const asFile: readonly PostBody[] = [{ kind: 'file', name: 'reply.md', text: tidy }];
  // A text this long becomes a file without being split first.
  if (length > options.fileAbove * options.limit) return asFile;
  const bodies = found.flatMap((section) => bodiesOf(section, options.limit));
  return bodies.length > options.fileAbove ? asFile : bodies;
}

/** The same where Discord accepts no files: as many messages as it takes. */
export function splitWithoutFiles(text: string): readonly string[] {
  return cut(tidyReply(text), MESSAGE_LENGTH).map(whole);
}

function bodiesOf({ text, isWide }: Section, limit: number): readonly PostBody[] {
  if (isWide) return [{ kind: 'file', name: 'table.md', text }];
  return cut(text, limit).map((chunk) => ({ kind: 'text', text: whole(chunk) }));
}

export interface Chunk {
  /** Reopens the code block in which the previous chunk was cut. */
  readonly opening: string;
  readonly text: string;
  readonly closing: string;
}

export function whole({ opening, text, closing }: Chunk): string {
  return opening + text + closing;
}

/** The chunks of a text; their `text` joined is the text. */
export function cut(text: string, limit: number): readonly Chunk[] {
  const { blocks, next } = createCutter(text, limit);
  const chunks: Chunk[] = [];
  for (let from = 0; from < text.length; ) {
    const to = next({ from, opening: openingAt(blocks, from) });
    chunks.push(chunkOf(text, blocks, { from, to, opening: openingAt(blocks, from) }));
    from = to;
  }
  return chunks;
}

function chunkOf(text: string, blocks: readonly Block[], { from, to, opening }: Cut & { readonly to: number }): Chunk {
  const own = text.slice(from, to);
  return { opening, text: own, closing: ownMarker(blocks, { text, at: to }) };
}

function openingAt(blocks: readonly Block[], at: number): string {
  const block = fenceAt(blocks, at);
  return block === null || at === block.bodyStart ? '' : block.reopening;
}

interface Section {
  readonly text: string;
  readonly isWide: boolean;
}

/** Tables too large for one message, and the text between them. */
function sections(text: string, limit: number): readonly Section[] {
  const wide = findBlocks(text).filter(({ kind, start, end }) => kind === 'table' && end - start > limit);
  const found: Section[] = [];
  let from = 0;
  for (const { start, end } of wide) {
    if (text.slice(from, start).trim() !== '') found.push({ text: text.slice(from, start), isWide: false });
    found.push({ text: text.slice(start, end), isWide: true });
    from = end;
  }
  if (text.slice(from).trim() !== '') found.push({ text: text.slice(from), isWide: false });
  return found;
}
