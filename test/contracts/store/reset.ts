import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/adapter-kit.ts';
import { type Kit, type Lab, NOW } from '../store-kit.ts';

export function resetContract(lab: Lab): void {
  describe('reset', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('restarts the view, keeps the archive, invalidates running work', async () => {
      const { id } = await kit.fill(6);
      const maintenance = await kit.claim('maintenance', id);
      await kit.compact(maintenance, kit.summary(1, 3));
      const asked = await kit.say('question', { wantsReply: true, claimLeaseMs: 500 });
      await store.conversations.change(id, { kind: 'reset', now: NOW });
      expect(await kit.get(id)).toMatchObject({ contextFrom: 8, compactedUpto: 7, nextSeq: 8 });
      expect(await kit.stack(id)).toEqual([]);
      expect((await store.transcript.context(id, { maxEntries: 9 }))?.tail).toEqual([]);
      expect(await store.transcript.read(id, { fromSeq: 1, toSeq: 9, limit: 9 })).toHaveLength(7);
      expect(await kit.compact(maintenance, kit.summary(4, 6))).toBe('stale');
      if (asked.claim === null) throw new Error('no claim');
      expect(await kit.commitTurn(asked.claim)).toEqual({ kind: 'stale' });
      expect(await store.conversations.due('reply', { now: NOW + 9_000, limit: 9 })).toEqual([]);
      await kit.fill(2);
      const held = await kit.claim('maintenance', id);
      expect(await kit.compact(held, kit.summary(7, 8))).toBe('stale');
      expect(await kit.compact(held, kit.summary(8, 8))).toBe('committed');
      expect(await kit.stack(id)).toEqual(['L0 8-8']);
    });
  });
}
