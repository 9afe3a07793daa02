import type { BlobId } from '../domain/message.ts';
import type { NewBlob } from '../ports/blob-store.ts';

/**
 * Long results of a turn, stored with it in one transaction: a turn that is overtaken, for example because a message was
 * deleted, leaves none of them.
 */
export interface TurnBlobs {
  add(blob: NewBlob): void;
  /** The result is not stored after all. */
  drop(id: BlobId): void;
  /** The whole text, also of the turn that opened this child; null if it is not of this turn. */
  find(id: BlobId): string | null;
  all(): readonly NewBlob[];
}

export function createTurnBlobs(outer?: Pick<TurnBlobs, 'find'>): TurnBlobs {
  const own = new Map<BlobId, NewBlob>();
  return {
    add: (blob) => void own.set(blob.id, blob),
    drop: (id) => void own.delete(id),
    find: (id) => own.get(id)?.text ?? outer?.find(id) ?? null,
    all: () => [...own.values()],
  };
}
