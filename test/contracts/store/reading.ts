import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/adapter-kit.ts';
import { type Kit, type Lab, NOW, post, THERE, textParts } from '../store-kit.ts';

export function readingContract(lab: Lab): void {
  describe('reading', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('reads state, stack and newest tail in one snapshot', async () => {
      const { id } = await kit.fill(9);
      await kit.compact(await kit.claim('maintenance', id), kit.summary(1, 3));
      const whole = await store.transcript.context(id, { maxEntries: 100 });
      expect(whole?.stack.map((item) => [item.fromSeq, item.toSeq])).toEqual([[1, 3]]);
      expect(whole?.tail.map((entry) => entry.seq)).toEqual([4, 5, 6, 7, 8, 9]);
      expect(whole?.omitted).toEqual({ entries: 0, tokens: 0 });
      const cut = await store.transcript.context(id, { maxEntries: 2 });
      expect(cut?.tail.map((entry) => entry.seq)).toEqual([8, 9]);
      expect(cut?.omitted).toEqual({ entries: 4, tokens: 12 });
      expect(cut?.conversation).toEqual(await kit.get(id));
    });

    // Shows: Q23
    it('reads a range up to the limit and single entries', async () => {
      const { id } = await kit.fill(6);
      const seqs = async (fromSeq: number, toSeq: number, limit: number) =>
        (await store.transcript.read(id, { fromSeq, toSeq, limit })).map((entry) => entry.seq);
      expect(await seqs(2, 5, 9)).toEqual([2, 3, 4, 5]);
      expect(await seqs(2, 5, 2)).toEqual([2, 3]);
      expect(await seqs(7, 9, 9)).toEqual([]);
      expect((await store.transcript.pick(id, [5, 2, 99, 2])).map((entry) => entry.seq)).toEqual([2, 5]);
      expect(await store.transcript.pick(id, [])).toEqual([]);
    });

    it('reads many single entries, each once and in order', async () => {
      const { id } = await kit.fill(140);
      const wanted = Array.from({ length: 130 }, (_, index) => 131 - index);
      const found = await store.transcript.pick(id, [...wanted, 999, ...wanted]);
      expect(found.map(({ seq }) => seq)).toEqual(wanted.toReversed());
    });

    it('finds a person’s message and the reply behind a post', async () => {
      const { claim, conversation } = await kit.say('q', { wantsReply: true, claimLeaseMs: 9 }, { externalId: 'x1' });
      if (claim === null) throw new Error('no claim');
      const call = { callId: 'c1', tool: 'add' };
      const result = { ...call, kind: 'tool-result', text: '3', isError: false, blob: null } as const;
      const base = { tokens: 1, at: NOW };
      const turn = await kit.commitTurn(claim, {
        entries: [
          { ...base, role: 'assistant', parts: [{ ...call, kind: 'tool-call', input: {} }] },
          { ...base, role: 'tool', parts: [result] },
          { ...base, role: 'assistant', parts: textParts('three') },
        ],
        posts: [post('a'), post('b', 1)],
      });
      if (turn.kind !== 'committed') throw new Error('stale');
      for (const row of turn.posts) await store.outbox.sent(row.id, `posted ${row.chunk}`);
      expect((await store.transcript.byExternalId(conversation.id, 'x1'))?.seq).toBe(1);
      expect((await store.transcript.byExternalId(conversation.id, 'posted 1'))?.seq).toBe(4);
      expect(await store.transcript.byExternalId(conversation.id, 'unknown')).toBeNull();
      const there = await kit.fill(1, THERE);
      expect(await store.transcript.byExternalId(there.id, 'x1')).toBeNull();
      expect(await store.transcript.byExternalId(there.id, 'posted 1')).toBeNull();
    });
  });
}
