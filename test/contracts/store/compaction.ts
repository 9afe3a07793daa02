import { beforeEach, describe, expect, it } from 'vitest';
import type { NewSummary, Store, SummaryId } from '../../../src/adapter-kit.ts';
import { type Kit, type Lab, NOW, textParts } from '../store-kit.ts';

export function compactionContract(lab: Lab): void {
  describe('compaction', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('moves pointer, stack, memories and watermark in one step', async () => {
      const { id, revision } = await kit.fill(8);
      const held = await kit.claim('maintenance', id);
      const first = kit.summary(1, 3, { lost: { code: [2, 3], promise: [1] } });
      const over = { memories: [kit.inserting('tea', [1, 2])], extracted: { from: 0, upto: 3 } };
      expect(await kit.compact(held, first, over)).toBe('committed');
      expect(await kit.compact(held, kit.summary(4, 5))).toBe('committed');
      expect(await kit.stack(id)).toEqual(['L0 1-3', 'L0 4-5']);
      const conversation = await kit.get(id);
      expect(conversation).toMatchObject({ compactedUpto: 5, extractedUpto: 3, contextFrom: 1 });
      expect(conversation.revision).toBeGreaterThan(revision);
      expect(await kit.recallable()).toEqual(['tea']);
      expect(await store.summaries.find(first.id)).toEqual({
        ...first,
        conversationId: id,
        kind: 'summary',
        stale: false,
        supersededBy: null,
      });
      expect(await store.summaries.children(first.id)).toEqual([]);
      expect(await store.summaries.find('nothing' as SummaryId)).toBeNull();
    });

    // Shows: R3, W25
    it('stores nothing of a late, duplicate or stale result', async () => {
      const { id } = await kit.fill(8);
      const held = await kit.claim('maintenance', id);
      expect(await kit.compact(held, kit.summary(1, 3))).toBe('committed');
      const memories = [kit.inserting('tea', [1])];
      const late = [
        kit.compact(held, kit.summary(1, 3), { memories }),
        kit.compact(held, kit.summary(2, 5), { memories }),
        kit.compact(held, kit.summary(5, 6), { memories }),
        kit.compact(held, kit.summary(4, 9), { memories }),
        kit.compact(held, kit.summary(4, 3), { memories }),
        kit.compact({ ...held, epoch: held.epoch - 1 }, kit.summary(4, 5), { memories }),
        kit.compact(held, kit.summary(4, 5), { memories, extracted: { from: 1, upto: 5 } }),
      ];
      expect(await Promise.all(late)).toEqual(late.map(() => 'stale'));
      expect(await kit.stack(id)).toEqual(['L0 1-3']);
      expect(await kit.recallable()).toEqual([]);
      await store.conversations.release(held, {
        work: 'maintenance',
        kind: 'done',
        seenNextSeq: 9,
        maintainAt: null,
      });
      expect(await kit.compact(held, kit.summary(4, 5), { memories })).toBe('stale');
    });

    it('replaces a valid summary only if the commit names it', async () => {
      const { id } = await kit.fill(8);
      const held = await kit.claim('maintenance', id);
      const [old, next] = [kit.summary(1, 3), kit.summary(4, 5)];
      for (const each of [old, next]) expect(await kit.compact(held, each)).toBe('committed');
      for (const [fromSeq, toSeq, rewrites] of [
        [1, 3, next.id],
        [1, 2, old.id],
        [1, 5, old.id],
        [6, 7, old.id],
      ] as const) {
        const made = kit.summary(fromSeq, toSeq);
        expect(await kit.compact(held, made, { rewrites }), `${fromSeq}-${toSeq}`).toBe('stale');
      }
      const fresh = kit.summary(1, 3, { text: 'in other words' });
      expect(await kit.compact(held, fresh, { rewrites: old.id })).toBe('committed');
      expect(await kit.stack(id)).toEqual(['L0 1-3', 'L0 4-5']);
      expect((await store.summaries.live(id))[0]).toMatchObject({ id: fresh.id, text: 'in other words' });
      expect(await store.summaries.find(old.id)).toMatchObject({ text: old.text, supersededBy: fresh.id });
      expect(await kit.compact(held, kit.summary(1, 3), { rewrites: old.id })).toBe('stale');
    });

    it('opens a gap without a claim, only at the end', async () => {
      const conversation = await kit.fill(8);
      expect(await kit.openGap(conversation, 3)).toBe('committed');
      expect(await kit.openGap(conversation, 5)).toBe('stale');
      const moved = await kit.get(conversation.id);
      expect(moved).toMatchObject({ compactedUpto: 3, maintainAt: NOW });
      expect(await kit.openGap(moved, 9)).toBe('stale');
      expect(await kit.openGap(moved, 3)).toBe('stale');
      expect(await kit.openGap(moved, 5)).toBe('committed');
      expect(await kit.stack(conversation.id)).toEqual(['gap 1-3', 'gap 4-5']);
    });

    it('fills the head of a gap, then the rest', async () => {
      const conversation = await kit.fill(8);
      await kit.openGap(conversation, 6);
      const held = await kit.claim('maintenance', conversation.id);
      expect(await kit.compact(held, kit.summary(1, 2))).toBe('committed');
      expect(await kit.stack(conversation.id)).toEqual(['L0 1-2', 'gap 3-6']);
      expect(await kit.compact(held, kit.summary(4, 6))).toBe('stale');
      expect(await kit.compact(held, kit.summary(3, 6))).toBe('committed');
      expect(await kit.stack(conversation.id)).toEqual(['L0 1-2', 'L0 3-6']);
      expect((await kit.get(conversation.id)).compactedUpto).toBe(6);
    });

    it('takes a result that an emergency overtook, beyond gaps too', async () => {
      const conversation = await kit.fill(9);
      const held = await kit.claim('maintenance', conversation.id);
      await kit.openGap(conversation, 3);
      await kit.openGap(await kit.get(conversation.id), 4);
      expect(await kit.compact(held, kit.summary(1, 6))).toBe('committed');
      expect(await kit.stack(conversation.id)).toEqual(['L0 1-6']);
      expect((await kit.get(conversation.id)).compactedUpto).toBe(6);
    });

    it('takes a result that ends within a gap', async () => {
      const conversation = await kit.fill(9);
      await kit.openGap(conversation, 3);
      await kit.openGap(await kit.get(conversation.id), 7);
      const held = await kit.claim('maintenance', conversation.id);
      expect(await kit.compact(held, kit.summary(1, 5))).toBe('committed');
      expect(await kit.stack(conversation.id)).toEqual(['L0 1-5', 'gap 6-7']);
    });

    it('condenses adjacent summaries that are all live', async () => {
      const { id } = await kit.fill(9);
      const held = await kit.claim('maintenance', id);
      const parts = [kit.summary(1, 2), kit.summary(3, 4), kit.summary(5, 6)];
      for (const part of parts) await kit.compact(held, part);
      const [a, b, c] = parts.map((part) => part.id);
      if (!a || !b || !c) throw new Error('three');
      const upper = kit.summary(1, 4, { level: 1 });
      expect(await kit.condense({ ...held, epoch: 0 }, upper, [a, b])).toBe('stale');
      expect(await kit.condense(held, upper, [a, c])).toBe('stale');
      expect(await kit.condense(held, upper, [a, 'gone' as SummaryId])).toBe('stale');
      expect(await kit.condense(held, kit.summary(1, 5, { level: 1 }), [a, b])).toBe('stale');
      expect(await kit.condense(held, upper, [a, b])).toBe('committed');
      expect(await kit.condense(held, kit.summary(1, 4, { level: 1 }), [a, b])).toBe('stale');
      expect(await kit.stack(id)).toEqual(['L1 1-4', 'L0 5-6']);
      expect((await store.summaries.children(upper.id)).map((child) => [child.id, child.supersededBy])).toEqual([
        [a, upper.id],
        [b, upper.id],
      ]);
    });

    /** A condensed summary of two, and what it was made from. */
    const condensed = async () => {
      const { id } = await kit.fill(3);
      await kit.say('before', {}, { externalId: 'fourth' });
      await kit.fill(5);
      const held = await kit.claim('maintenance', id);
      const [a, b, c] = [kit.summary(1, 2), kit.summary(3, 4), kit.summary(5, 6)];
      for (const part of [a, b, c]) expect(await kit.compact(held, part)).toBe('committed');
      const old = kit.summary(1, 4, { level: 1 });
      expect(await kit.condense(held, old, [a.id, b.id])).toBe('committed');
      return { id, held, old, parts: [a.id, b.id] as const, next: c.id };
    };
    const again = (over: Partial<NewSummary> = {}) => kit.summary(1, 4, { level: 1, text: 'in other words', ...over });
    const childrenOf = async (of: SummaryId) => (await store.summaries.children(of)).map((child) => child.id);

    it('replaces a condensed summary only from its own parts', async () => {
      const { id, held, old, parts, next } = await condensed();
      const rewrites = old.id;
      const late = [
        kit.condense({ ...held, epoch: 0 }, again(), parts, { rewrites }),
        kit.condense(held, again({ level: 2 }), parts, { rewrites }),
        kit.condense(held, again({ level: 0 }), parts, { rewrites }),
        kit.condense(held, again({ toSeq: 6 }), [...parts, next], { rewrites }),
        kit.condense(held, again({ toSeq: 2 }), parts.slice(0, 1), { rewrites }),
        kit.condense(held, again(), parts.slice(0, 1), { rewrites }),
        kit.condense(held, again(), [...parts, next], { rewrites }),
        kit.condense(held, again(), parts, { rewrites: next }),
        kit.condense(held, again(), parts, { rewrites: parts[0] }),
        kit.condense(held, again(), parts, { rewrites, ready: true }),
        kit.compact(held, again(), { rewrites }),
        kit.compact(held, again({ level: 0 }), { rewrites }),
      ];
      expect(await Promise.all(late)).toEqual(late.map(() => 'stale'));
      expect(await childrenOf(old.id)).toEqual(parts);
      expect(await kit.stack(id)).toEqual(['L1 1-4', 'L0 5-6']);
    });

    it('keeps earlier texts of a condensed summary readable', async () => {
      const { id, held, old, parts } = await condensed();
      const [second, third] = [again(), again({ text: 'in third words' })];
      const { revision } = await kit.get(id);
      expect(await kit.condense(held, second, parts, { rewrites: old.id })).toBe('committed');
      expect(await kit.condense(held, again(), parts, { rewrites: old.id })).toBe('stale');
      expect(await kit.condense(held, third, parts, { rewrites: second.id })).toBe('committed');
      expect((await kit.get(id)).revision).toBeGreaterThan(revision + 1);
      expect(await kit.stack(id)).toEqual(['L1 1-4', 'L0 5-6']);
      for (const { id: version, text } of [old, second]) {
        expect(await store.summaries.find(version)).toMatchObject({ text, supersededBy: third.id });
      }
      for (const version of [old, second, third]) expect(await childrenOf(version.id)).toEqual(parts);
    });

    it('rewrites no summary that was condensed since', async () => {
      const { id, held, old, parts, next } = await condensed();
      expect(await kit.condense(held, kit.summary(1, 6, { level: 2 }), [old.id, next], { ready: true })).toBe(
        'committed',
      );
      expect(await kit.condense(held, again(), parts, { rewrites: old.id })).toBe('stale');
      expect(await store.summaries.publish(id)).toBe('committed');
      expect(await kit.condense(held, again(), parts, { rewrites: old.id })).toBe('stale');
      expect(await kit.stack(id)).toEqual(['L2 1-6']);
      expect(await childrenOf(old.id)).toEqual(parts);
    });

    it.each(['edit', 'redact'] as const)('dissolves all texts of a condensed summary: %s', async (change) => {
      const { id, held, old, parts, next } = await condensed();
      const second = again();
      await kit.condense(held, second, parts, { rewrites: old.id });
      await kit.condense(held, kit.summary(1, 6, { level: 2 }), [second.id, next]);
      const edited = { externalId: 'fourth', parts: textParts('after'), tokens: 2, now: NOW };
      if (change === 'edit') expect(await store.transcript.edit(id, edited)).toBe(true);
      else await store.transcript.redact(id, { externalIds: ['fourth'], now: NOW });
      expect(await kit.stack(id)).toEqual(['L0 1-2', change === 'edit' ? 'L0 3-4!' : 'gap 3-4', 'L0 5-6']);
      for (const version of [old, second]) expect(await store.summaries.find(version.id)).toBeNull();
      expect(await kit.condense(held, again(), parts, { rewrites: second.id })).toBe('stale');
    });

    it('never condenses a gap or a stale summary', async () => {
      const conversation = await kit.fill(9);
      const held = await kit.claim('maintenance', conversation.id);
      const good = kit.summary(1, 2);
      await kit.compact(held, good);
      await kit.openGap(await kit.get(conversation.id), 4);
      const [, gap] = await store.summaries.live(conversation.id);
      if (!gap) throw new Error('no gap');
      expect(await kit.condense(held, kit.summary(1, 4, { level: 1 }), [good.id, gap.id])).toBe('stale');
    });

    it.each(['edit', 'redact'] as const)('condenses nothing that is outdated: %s', async (change) => {
      const { id } = await kit.fill(4);
      await kit.say('before', {}, { externalId: 'outdated' });
      await kit.fill(3);
      const held = await kit.claim('maintenance', id);
      const parts = [kit.summary(1, 6), kit.summary(7, 8)];
      for (const part of parts) expect(await kit.compact(held, part)).toBe('committed');
      const edited = { externalId: 'outdated', parts: textParts('after'), tokens: 2, now: NOW };
      if (change === 'edit') expect(await store.transcript.edit(id, edited)).toBe(true);
      else await store.transcript.redact(id, { externalIds: ['outdated'], now: NOW });
      const ids = parts.map((part) => part.id);
      expect(await kit.condense(held, kit.summary(1, 8, { level: 1 }), ids)).toBe('stale');
    });

    it('extracts an idle tail once', async () => {
      const { id } = await kit.fill(4);
      const held = await kit.claim('maintenance', id);
      const commit = { conversationId: id, epoch: held.epoch, now: NOW };
      const first = { ...commit, memories: [kit.inserting('tea', [2])], extracted: { from: 0, upto: 4 } };
      expect(await store.summaries.commitExtraction(first)).toBe('committed');
      const second = { ...commit, memories: [kit.inserting('rice', [2])], extracted: { from: 0, upto: 4 } };
      expect(await store.summaries.commitExtraction(second)).toBe('stale');
      const beyond = { ...second, extracted: { from: 4, upto: 5 } };
      expect(await store.summaries.commitExtraction(beyond)).toBe('stale');
      expect(await store.summaries.commitExtraction({ ...second, epoch: 9, extracted: { from: 4, upto: 4 } })).toBe(
        'stale',
      );
      expect(await kit.recallable()).toEqual(['tea']);
      expect(await kit.get(id)).toMatchObject({ extractedUpto: 4, compactedUpto: 0 });
    });

    it('rejects a summary of entries changed after reading', async () => {
      const { id } = await kit.fill(4);
      await kit.say('secret', {}, { externalId: 'x5' });
      await kit.fill(3);
      const held = await kit.claim('maintenance', id);
      const seenRevision = (await kit.get(id)).revision;
      await store.transcript.redact(id, { externalIds: ['x5'], now: NOW });
      expect(await kit.compact(held, kit.summary(1, 6))).toBe('stale');
      expect(await kit.compact(held, kit.summary(1, 6), { seenRevision })).toBe('stale');
      const extraction = {
        conversationId: id,
        epoch: held.epoch,
        memories: [],
        extracted: { from: 0, upto: 6 },
        now: NOW,
      };
      expect(await store.summaries.commitExtraction(extraction)).toBe('stale');
      expect(await kit.compact(held, kit.summary(1, 4), { seenRevision })).toBe('committed');
      const readAgain = (await kit.get(id)).revision;
      expect(await kit.compact(held, kit.summary(5, 6), { seenRevision: readAgain })).toBe('committed');
    });

    it('rejects a summary if an entry before it was changed', async () => {
      const { id } = await kit.fill(4);
      await kit.say('secret', {}, { externalId: 'x5' });
      await kit.fill(3);
      const held = await kit.claim('maintenance', id);
      await kit.compact(held, kit.summary(1, 6));
      const seenRevision = (await kit.get(id)).revision;
      await store.transcript.redact(id, { externalIds: ['x5'], now: NOW });
      expect(await kit.compact(held, kit.summary(7, 8), { seenRevision })).toBe('stale');
      const readAgain = (await kit.get(id)).revision;
      expect(await kit.compact(held, kit.summary(7, 8), { seenRevision: readAgain })).toBe('committed');
    });
  });
}
