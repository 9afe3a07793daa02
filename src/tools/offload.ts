import type { BlobId, ToolResultPart } from '../domain/message.ts';

/** A longer result moves from the transcript to the blob store. */
export const MAX_BYTES = 8_000;
const HEAD_BYTES = 4_000;
const TAIL_BYTES = 2_000;

/** A long result: its excerpt, where the rest is, and how to continue reading. */
export interface Offloaded {
  readonly blob: NonNullable<ToolResultPart['blob']>;
  /** With a reference to the whole, once it is stored. */
  readonly stored: string;
  /** Without the reference, if the store did not accept it. */
  readonly lost: string;
}

/** Null if it is short enough to stay whole. Only the length decides. */
export function offload(text: string, id: BlobId): Offloaded | null {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= MAX_BYTES) return null;
  const head = headOf(text, HEAD_BYTES);
  const tail = tailOf(text, TAIL_BYTES);
  const left = text.length - head.length - tail.length;
  const note = `${left} of ${text.length} characters are left out here`;
  return {
    blob: { id, sizeBytes },
    stored: `${head}\n[${note}. blob_read reads them: id ${id}, from ${head.length}.]\n${tail}`,
    lost: `${head}\n[${note} and could not be kept. Call the tool again for less.]\n${tail}`,
  };
}

/** The head of a text within this many UTF-8 bytes, ending between characters. */
export function headOf(text: string, bytes: number): string {
  let end = 0;
  let left = bytes;
  while (end < text.length) {
    const next = end + unitsAt(text, end);
    left -= Buffer.byteLength(text.slice(end, next));
    if (left < 0) break;
    end = next;
  }
  return text.slice(0, end);
}

function tailOf(text: string, bytes: number): string {
  // No character has fewer bytes than UTF-16 units, so checking this much is enough.
  const near = text.slice(beginsAt(text, Math.max(0, text.length - bytes)));
  const surplus = Buffer.byteLength(near) - bytes;
  if (surplus <= 0) return near;
  const cut = headOf(near, surplus);
  const isExact = Buffer.byteLength(cut) === surplus;
  return near.slice(isExact ? cut.length : cut.length + unitsAt(near, cut.length));
}

/** Two for a surrogate pair. */
function unitsAt(text: string, index: number): number {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function beginsAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return index > 0 && code >= 0xdc00 && code <= 0xdfff ? index + 1 : index;
}
