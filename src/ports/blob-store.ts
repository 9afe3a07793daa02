import type { BlobId } from '../domain/message.ts';

/** A text to store. The writer sets its id. */
export interface NewBlob {
  readonly id: BlobId;
  readonly text: string;
}

/** Texts that are too long for a transcript, such as results of tools. */
export interface BlobStore {
  /** One that belongs to no turn. */
  put(blob: NewBlob & { readonly conversationId: number; readonly now: number }): Promise<void>;
  /** A range of characters, or null if the blob is gone or belongs to another conversation. */
  read(
    id: BlobId,
    range: { readonly conversationId: number; readonly from: number; readonly length: number },
  ): Promise<BlobRange | null>;
  /** Those of a conversation that were put at `since` or later, by id. */
  list(
    conversationId: number,
    query: { readonly since: number; readonly after: BlobId | null; readonly limit: number },
  ): Promise<readonly { readonly id: BlobId; readonly createdAt: number }[]>;
  /** Deletes the blobs that were put before this time, and returns their number. */
  expire(before: number): Promise<number>;
}

/** A piece of a blob. Lengths are characters (UTF-16 units). */
export interface BlobRange {
  readonly text: string;
  readonly totalLength: number;
}
