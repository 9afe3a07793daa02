import { type PostBody, tidyReply, trimEndWhile } from '../../../../src/adapter-kit.ts';
import { BREAKS } from '../../shared/breaks.ts';
import { graphemeCuts, windowEnd } from '../../shared/hard-cut.ts';
import { insideOf, type UnitRules, unitsOf } from '../../shared/units.ts';
import { listParts } from './list-parts.ts';
import { type SourceBlock, sourceBlocks } from './markdown.ts';

/** Slack's clients split longer messages themselves. */
export const MESSAGE_LENGTH = 3500;
/** A reply with more messages than this becomes one file. */
const FILE_ABOVE = 6;
const MAX_OPENING = 40;

/**
 * Splits a reply into messages. Without the markers that close and reopen a code block, and but for the indentation in a
 * list that is cut, the joined bodies are the text. A table too large for one message becomes a file.
 */
export function split(text: string, limit = MESSAGE_LENGTH): readonly PostBody[] {
  const tidy = tidyReply(text);
  const bodies = bodiesOf(tidy, limit);
  return bodies.length > FILE_ABOVE ? [{ kind: 'file', name: 'reply.md', text: tidy }] : bodies;
}

/** The same without files: as many messages as necessary. */
export function splitWithoutFiles(text: string, limit = MESSAGE_LENGTH): readonly string[] {
  const bodies = bodiesOf(tidyReply(text), limit);
  return bodies.flatMap((body) => (body.kind === 'text' ? [body.text] : cut(body.text, limit)));
}

function bodiesOf(tidy: string, limit: number): readonly PostBody[] {
  const bodies: PostBody[] = [];
  let current = '';
  const end = () => {
    if (current.trim() !== '') bodies.push({ kind: 'text', text: current });
    current = '';
  };
  for (const chunk of chunksOf(tidy, limit)) {
    if (chunk.begins || current.length + chunk.text.length > limit) end();
    if (chunk.isWide) bodies.push({ kind: 'file', name: 'table.md', text: chunk.text });
    else current += chunk.text;
  }
  end();
  return bodies;
}

interface Chunk {
  readonly text: string;
  readonly isWide: boolean;
  /** In a message of its own, or at its start. */
  readonly begins: boolean;
}

function chunksOf(text: string, limit: number): readonly Chunk[] {
  return sourceBlocks(text).flatMap((token): readonly Chunk[] => {
    if (token.raw.length <= limit) return [{ text: token.raw, isWide: false, begins: false }];
    if (token.type === 'table') return [{ text: token.raw, isWide: true, begins: true }];
    return partsOf(token, limit);
  });
}

/** Those of code and lists begin a message each. */
function partsOf({ raw, type }: SourceBlock, limit: number): readonly Chunk[] {
  if (type === 'code') return fenceParts(raw, limit).map(beginning);
  if (type === 'list') return listParts(raw, { limit, nextCut }).map(beginning);
  return cut(raw, limit).map((text) => ({ text, isWide: false, begins: false }));
}

function beginning(text: string, index: number): Chunk {
  return { text, isWide: false, begins: index > 0 };
}

/** A code block in chunks, each closed and reopened with the same marker and language. */
function fenceParts(raw: string, limit: number): readonly string[] {
  const line = raw.slice(0, raw.indexOf('\n') + 1);
  const marker = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
  if (marker === '' || marker.length > MAX_OPENING / 2 || line.length > limit / 2) return cut(raw, limit);
  const opening = line.length > MAX_OPENING ? `${marker}\n` : line;
  const closing = closingOf(raw, marker);
  if (closing.length > limit / 4) return cut(raw, limit);
  const body = raw.slice(line.length, raw.length - closing.length);
  const room = limit - Math.max(line.length, opening.length) - Math.max(closing.length, marker.length + 1);
  if (room < 1) return cut(raw, limit);
  const parts = cut(body, room);
  return parts.map((part, index) => {
    const ownEnd = `${part.endsWith('\n') ? '' : '\n'}${marker}`;
    return (index === 0 ? line : opening) + part + (index === parts.length - 1 ? closing : ownEnd);
  });
}

/** The line that closes the block, with its line breaks; empty if the block is never closed. */
function closingOf(raw: string, marker: string): string {
  const body = trimEndWhile(raw, (character) => character === '\n');
  const start = body.lastIndexOf('\n');
  const isClosing = start !== -1 && /^ {0,3}(?:`{3,}|~{3,})[ \t]*$/.test(body.slice(start + 1));
  return isClosing &&
    body
      .slice(start + 1)
      .trimStart()
      .startsWith(marker)
    ? raw.slice(start)
    : '';
}

/** Not cut as long as one message can hold it: links with their text, URLs, inline code and emphasis. */
const UNITS: UnitRules = { bold: true, mentions: false };

/** Joined, the chunks are the text; none is longer than the limit. */
function cut(text: string, limit: number): readonly string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = nextCut(text, { from, limit });
    chunks.push(text.slice(from, to));
    from = to;
  }
  return chunks;
}

function nextCut(text: string, { from, limit }: { readonly from: number; readonly limit: number }): number {
  if (text.length - from <= limit) return text.length;
  const window = text.slice(from, from + limit);
  const units = unitsOf(text.slice(from, from + 2 * limit), UNITS).filter(({ start, end }) => end - start <= limit);
  const isInside = insideOf(2 * limit, units);
  const isGood = (at: number) => !isInside(at - from) && !breaksMarks(text, at);
  for (const { pattern, fill } of BREAKS) {
    const places = Array.from(window.matchAll(pattern), ({ index, 0: found }) => from + index + found.length);
    const best = places.findLast((at) => at - from >= fill * limit && isGood(at));
    if (best !== undefined) return best;
  }
  const cuts = graphemeCuts(window, from);
  return cuts.findLast(isGood) ?? cuts.at(-1) ?? windowEnd(window, from);
}

const MARKER = / {0,3}(?:`{3}|~{3})/y;

/** Whether a cut would divide code marks, or let marks from inside a line open a block at the start of a message. */
function breaksMarks(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  if ((before === '`' || before === '~') && text.charAt(at) === before) return true;
  MARKER.lastIndex = at;
  return before !== '\n' && MARKER.test(text);
}
