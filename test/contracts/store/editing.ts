import { beforeEach, describe, expect, it } from 'vitest';
import type { Store, SummaryId } from '../../../src/adapter-kit.ts';
import { condensed, type Kit, type Lab, NOW, textParts } from '../store-kit.ts';

export function editingContract(lab: Lab): void {
  describe('editing', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('replaces the text and says when', async () => {
      const { conversation } = await kit.say('before', {}, { externalId: 'x1' });
      const edit = { externalId: 'x1', parts: textParts('after'), tokens: 7, now: NOW + 5 };
      expect(await store.transcript.edit(conversation.id, edit)).toBe(true);
      const entry = await store.transcript.byExternalId(conversation.id, 'x1');
      expect(entry).toMatchObject({ parts: textParts('after'), tokens: 7, editedAt: NOW + 5, seq: 1 });
      expect((await kit.get(conversation.id)).revision).toBe(conversation.revision + 1);
      expect(await store.transcript.edit(conversation.id, { ...edit, externalId: 'x2' })).toBe(false);
    });

    it('leaves an edit that changes nothing without effect', async () => {
      const { conversation } = await kit.say('same', {}, { externalId: 'x1' });
      const edit = { externalId: 'x1', parts: textParts('same'), tokens: 3, now: NOW + 5 };
      expect(await store.transcript.edit(conversation.id, edit)).toBe(true);
      expect(await kit.get(conversation.id)).toEqual(conversation);
    });

    it('marks the summary stale and drops memories resting on it', async () => {
      const { id } = await kit.fill(2);
      await kit.say('old', {}, { externalId: 'x3' });
      await kit.fill(3);
      const held = await kit.claim('maintenance', id);
      const memories = [kit.inserting('alone', [3]), kit.inserting('shared', [2, 3])];
      await kit.compact(held, kit.summary(1, 2));
      await kit.compact(held, kit.summary(3, 5), { memories });
      await store.transcript.edit(id, { externalId: 'x3', parts: textParts('new'), tokens: 2, now: NOW });
      expect(await kit.stack(id)).toEqual(['L0 1-2', 'L0 3-5!']);
      expect(await kit.recallable()).toEqual(['shared']);
      expect((await kit.get(id)).maintainAt).toBe(NOW);
      const revision = (await kit.get(id)).revision;
      const rewritten = kit.summary(3, 5, { text: 'a new summary' });
      expect(await kit.compact(held, rewritten, { seenRevision: revision })).toBe('committed');
      expect(await kit.stack(id)).toEqual(['L0 1-2', 'L0 3-5']);
    });

    it('keeps no text of the summaries it makes outdated', async () => {
      await kit.say('old', {}, { externalId: 'x1' });
      const { id } = await kit.fill(2);
      const held = await kit.claim('maintenance', id);
      const [first, second, third] = [kit.summary(1, 3), kit.summary(1, 3), kit.summary(1, 3)];
      await kit.compact(held, first);
      await kit.compact(held, second, { rewrites: first.id });
      await store.transcript.edit(id, { externalId: 'x1', parts: textParts('new'), tokens: 2, now: NOW });
      const textsOf = () => Promise.all([first, second].map(async (one) => (await store.summaries.find(one.id))?.text));
      expect(await textsOf()).toEqual(['', second.text]);
      const { revision: seenRevision } = await kit.get(id);
      expect(await kit.compact(held, third, { seenRevision })).toBe('committed');
      expect(await textsOf()).toEqual(['', '']);
      expect(await kit.stack(id)).toEqual(['L0 1-3']);
    });

    it('dissolves a condensed summary down to the touched part', async () => {
      const { id, parts, held } = await condensed(kit);
      await store.transcript.edit(id, { externalId: 'x3', parts: textParts('new'), tokens: 2, now: NOW });
      expect(await kit.stack(id)).toEqual(['L0 1-2', 'L0 3-4!', 'L1 5-8']);
      expect((await store.summaries.find(parts[0] as SummaryId))?.supersededBy).toBeNull();
      expect(held.epoch).toBe((await kit.get(id)).maintenanceEpoch);
    });

    it('does not restore deleted text', async () => {
      const { conversation } = await kit.say('gone', {}, { externalId: 'x1' });
      await store.transcript.redact(conversation.id, { externalIds: ['x1'], now: NOW });
      const edit = { externalId: 'x1', parts: textParts('back'), tokens: 3, now: NOW };
      expect(await store.transcript.edit(conversation.id, edit)).toBe(false);
    });
  });
}
