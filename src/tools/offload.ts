import type { BlobId, ToolResultPart } from '../domain/message.ts';
import { headBytes, tailBytes } from '../util/text/utf8.ts';

/** From the beginning of a long result; the rest of its excerpt is the end. */
const HEAD_SHARE = 2 / 3;

export interface OffloadSizes {
  /** A longer result moves from the transcript to the blob store. */
  readonly blobBytes: number;
  /** What the transcript keeps of it. */
  readonly keptBytes: number;
}

/** A long result: its excerpt, where the rest is, and how to continue reading. */
export interface Offloaded {
  readonly blob: NonNullable<ToolResultPart['blob']>;
  /** With a reference to the whole, once it is stored. */
  readonly stored: string;
  /** Without the reference, if the store did not accept it. */
  readonly lost: string;
}

/** Null if it is short enough to stay whole. Only the length decides. */
export function offload(text: string, id: BlobId, { blobBytes, keptBytes }: OffloadSizes): Offloaded | null {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes <= blobBytes) return null;
  const headSize = Math.round(keptBytes * HEAD_SHARE);
  const head = headBytes(text, headSize);
  const tail = tailBytes(text, keptBytes - headSize);
  const left = text.length - head.length - tail.length;
  const note = `${left} of ${text.length} characters are left out here`;
  return {
    blob: { id, sizeBytes },
    stored: `${head}\n[${note}. blob_read reads them: id ${id}, from ${head.length}.]\n${tail}`,
    lost: `${head}\n[${note} and could not be kept. Call the tool again for less.]\n${tail}`,
  };
}
