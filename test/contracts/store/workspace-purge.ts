import { beforeEach, describe, expect, it } from 'vitest';
import { type Store, workspaceOf } from '../../../src/adapter-kit.ts';
import { ABROAD, HERE, type Kit, type Lab, NOW } from '../store-kit.ts';

export function workspacePurgeContract(lab: Lab): void {
  describe('the purge of a workspace', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('deletes only its own memories and tombstones', async () => {
      const { id } = await kit.fill(1);
      const forgotten = { place: HERE, fingerprint: 'print of gone' };
      const elsewhere = { place: ABROAD, fingerprint: 'print of gone' };
      const plan = {
        memoryIds: [],
        tombstones: [forgotten, elsewhere],
        redactions: [],
        sentences: [],
        actor: 'ada',
        now: NOW,
      };
      await store.memories.forget(plan);
      const abroad = { place: ABROAD, workspace: workspaceOf(ABROAD) };
      await kit.save(id, kit.inserting('said here', [1]));
      await kit.save(null, kit.inserting('asked here', []), kit.inserting('said abroad', [], abroad));
      await kit.save(null, kit.inserting('known everywhere', [], { scope: 'global', place: '', workspace: '' }));
      await store.memories.forget({ workspace: workspaceOf(HERE) });
      expect(await kit.recallable()).toEqual(['known everywhere']);
      expect((await kit.recallable(abroad)).toSorted()).toEqual(['known everywhere', 'said abroad']);
      const isForgotten = (place: string) => store.memories.forgotten(place, ['print of gone']);
      expect((await isForgotten(HERE)).size).toBe(0);
      expect((await isForgotten(ABROAD)).size).toBe(1);
    });
  });
}
