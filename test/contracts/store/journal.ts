import { beforeEach, describe, expect, it } from 'vitest';
import type { MaintenanceRun, Storage, Store } from '../../../src/adapter-kit.ts';
import { type Kit, type Lab, NOW, THERE } from '../store-kit.ts';

export function journalContract(lab: Lab): void {
  describe('journal and state', () => {
    let storage: Storage;
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ storage, store, kit } = lab());
    });

    // Shows: A24
    it('sums usage by purpose and model', async () => {
      const { id } = await kit.fill(1);
      const row = {
        purpose: 'reply',
        model: 'm',
        at: NOW,
        inputTokens: 1,
        outputTokens: 2,
        cacheReadTokens: 3,
        cacheWriteTokens: 4,
      } as const;
      await store.journal.addUsage(id, [row, row, { ...row, model: 'n' }]);
      await store.journal.addUsage(id, [{ ...row, purpose: 'compact' }]);
      const { at: _, ...once } = row;
      expect(await store.journal.usage(id)).toEqual([
        { ...once, purpose: 'compact', calls: 1 },
        { ...once, calls: 2, inputTokens: 2, outputTokens: 4, cacheReadTokens: 6, cacheWriteTokens: 8 },
        { ...once, model: 'n', calls: 1 },
      ]);
    });

    // Shows: Q25
    it('keeps the newest 100 runs of a conversation', async () => {
      const { id } = await kit.fill(1);
      const there = await kit.fill(1, THERE);
      for (let n = 0; n < 105; n++) await store.journal.addRun(run(id, n));
      await store.journal.addRun(run(there.id, 500));
      expect(await store.journal.runs(id, 2)).toEqual([run(id, 104), run(id, 103)]);
      expect(await store.journal.runs(id, 1_000)).toHaveLength(100);
      expect(await store.journal.runs(there.id, 9)).toHaveLength(1);
    });

    it('keeps small facts by namespace', async () => {
      const { state } = storage;
      await state.set('a', 'k', { n: [1, null, 'x'] });
      await state.set('a', 'j', false);
      await state.set('b', 'k', 'other');
      await state.set('a', 'k', { n: 2 });
      expect(await state.get('a', 'k')).toEqual({ n: 2 });
      expect(await state.get('c', 'k')).toBeUndefined();
      expect(await state.list('a')).toEqual([
        { key: 'j', value: false },
        { key: 'k', value: { n: 2 } },
      ]);
      await state.delete('a', 'k');
      expect(await state.get('a', 'k')).toBeUndefined();
      expect(await state.get('b', 'k')).toBe('other');
    });
  });
}

function run(conversationId: number, n: number): MaintenanceRun {
  return {
    id: `run ${conversationId} ${String(n).padStart(4, '0')}`,
    conversationId,
    work: 'compact',
    trigger: 'background',
    fromSeq: 1,
    toSeq: 2,
    outcome: 'committed',
    error: null,
    tokensBefore: 10,
    tokensAfter: 5,
    memories: 1,
    model: 'm',
    inputTokens: 3,
    outputTokens: 4,
    startedAt: NOW + n,
    durationMs: 5,
  };
}
