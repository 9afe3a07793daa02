import { beforeEach, describe, expect, it } from 'vitest';
import type { BlobId, Store } from '../../../src/adapter-kit.ts';
import { type Kit, type Lab, NOW, THERE } from '../store-kit.ts';

export function blobsContract(lab: Lab): void {
  describe('blobs', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('reads ranges for their own conversation, until they expire', async () => {
      const { id } = await kit.fill(1);
      const there = await kit.fill(1, THERE);
      const blob = 'b1' as BlobId;
      await store.blobs.put({ id: blob, conversationId: id, text: 'abcdefgh', now: NOW });
      const range = { conversationId: id, from: 2, length: 3 };
      expect(await store.blobs.read(blob, range)).toEqual({ text: 'cde', totalLength: 8 });
      expect(await store.blobs.read(blob, { ...range, from: 99 })).toEqual({ text: '', totalLength: 8 });
      expect(await store.blobs.read(blob, { ...range, conversationId: there.id })).toBeNull();
      expect(await store.blobs.read('none' as BlobId, range)).toBeNull();
      const query = { since: NOW, after: null, limit: 9 };
      expect(await store.blobs.list(id, query)).toEqual([{ id: blob, createdAt: NOW }]);
      expect(await store.blobs.list(id, { ...query, since: NOW + 1 })).toEqual([]);
      expect(await store.blobs.list(id, { ...query, after: blob })).toEqual([]);
      expect(await store.blobs.list(there.id, query)).toEqual([]);
      expect(await store.blobs.expire(NOW)).toBe(0);
      expect(await store.blobs.expire(NOW + 1)).toBe(1);
      expect(await store.blobs.read(blob, range)).toBeNull();
    });
  });
}
