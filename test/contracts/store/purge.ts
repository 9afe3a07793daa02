import { beforeEach, describe, expect, it } from 'vitest';
import type { BlobId, Store } from '../../../src/adapter-kit.ts';
import { HERE, type Kit, type Lab, NOW, THERE, THREAD } from '../store-kit.ts';

export function purgeContract(lab: Lab): void {
  describe('purge', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('deletes a place’s memories with its last conversation', async () => {
      const { id } = await kit.fill(1);
      const thread = await kit.fill(1, THREAD);
      await kit.save(null, kit.inserting('by command', []), kit.inserting('there', [], { place: THERE }));
      await store.conversations.change(thread.id, { kind: 'purge' });
      expect((await kit.recallable({ sharePublic: true })).toSorted()).toEqual(['by command', 'there']);
      await store.conversations.change(id, { kind: 'purge' });
      expect(await kit.recallable({ sharePublic: true })).toEqual(['there']);
    });

    it('leaves nothing but other conversations', async () => {
      const { id } = await kit.fill(4);
      const there = await kit.fill(2, THERE);
      const held = await kit.claim('maintenance', id);
      const made = kit.summary(1, 2);
      await kit.compact(held, made, { memories: [kit.inserting('mine', [1])] });
      const shared = kit.inserting('shared', [3]);
      await kit.save(id, shared);
      if (shared.kind !== 'insert') throw new Error('insert');
      await kit.save(there.id, { kind: 'corroborate', id: shared.memory.id, sources: [1], promote: false });
      await store.blobs.put({ id: 'b1' as BlobId, conversationId: id, text: 'x', now: NOW });
      await store.conversations.change(id, { kind: 'purge' });
      expect(await store.conversations.find(HERE)).toBeNull();
      expect(await store.summaries.find(made.id)).toBeNull();
      expect(await store.transcript.read(id, { fromSeq: 1, toSeq: 9, limit: 9 })).toEqual([]);
      expect(await kit.recallable()).toEqual(['shared']);
      expect((await kit.get(there.id)).nextSeq).toBe(3);
      const anew = await kit.say('hello again');
      expect(anew.seq).toBe(1);
      expect(anew.conversation.id).not.toBe(id);
    });
  });
}
