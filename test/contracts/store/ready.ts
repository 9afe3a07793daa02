import { beforeEach, describe, expect, it } from 'vitest';
import type { Claim, Store } from '../../../src/adapter-kit.ts';
import { HERE, type Kit, type Lab, NOW, textParts } from '../store-kit.ts';

export function readyContract(lab: Lab): void {
  describe('ready summaries', () => {
    let store: Store;
    let kit: Kit;
    let held: Claim;
    let id: number;
    beforeEach(async () => {
      ({ store, kit } = lab());
      ({ id } = await kit.fill(1));
      await kit.say('two', {}, { externalId: 'x2' });
      await kit.fill(10);
      held = await kit.claim('maintenance', id);
    });

    const view = async () => {
      const read = await store.transcript.context(id, { maxEntries: 50 });
      if (read === null) throw new Error('The conversation is gone.');
      const ids = (of: typeof read.stack = []) => of.map((item) => item.id);
      return { upto: read.conversation.compactedUpto, stack: ids(read.stack), ready: ids(read.ready) };
    };
    const wait = (fromSeq: number, toSeq: number) => {
      const summary = kit.summary(fromSeq, toSeq);
      return kit.compact(held, summary, { ready: true }).then((result) => ({ result, id: summary.id }));
    };

    it('change the view only when they are published', async () => {
      const revision = (await kit.get(id)).revision;
      const first = await wait(1, 4);
      const second = await wait(5, 6);
      expect([first.result, second.result]).toEqual(['committed', 'committed']);
      expect(await view()).toEqual({ upto: 0, stack: [], ready: [first.id, second.id] });
      expect((await kit.get(id)).revision).toBeGreaterThan(revision);
      expect(await store.summaries.publish(id)).toBe('committed');
      expect(await view()).toEqual({ upto: 6, stack: [first.id, second.id], ready: [] });
      expect(await store.summaries.publish(id)).toBe('stale');
    });

    it('come first when another summary is committed', async () => {
      const first = await wait(1, 4);
      const next = kit.summary(5, 8);
      expect(await kit.compact(held, next)).toBe('committed');
      expect(await view()).toEqual({ upto: 8, stack: [first.id, next.id], ready: [] });
    });

    it('follow the end of the stack or one another', async () => {
      expect((await wait(3, 4)).result).toBe('stale');
      await wait(1, 4);
      expect((await wait(1, 4)).result).toBe('stale');
      expect((await wait(6, 8)).result).toBe('stale');
    });

    it('can be condensed, published or not', async () => {
      const live = kit.summary(1, 3);
      await kit.compact(held, live);
      const first = await wait(4, 6);
      const upper = kit.summary(1, 6, { level: 1 });
      const condensed = { conversationId: id, epoch: held.epoch, summary: upper, childIds: [live.id, first.id] };
      expect(await store.summaries.commitCondensation({ ...condensed, ready: true, now: NOW })).toBe('committed');
      expect((await view()).stack).toEqual([live.id]);
      await wait(7, 8);
      await store.summaries.publish(id);
      expect(await view()).toMatchObject({ upto: 8, ready: [] });
      expect((await view()).stack[0]).toBe(upper.id);
      expect((await store.summaries.children(upper.id)).map((child) => child.id)).toEqual([live.id, first.id]);
    });

    it.each([
      ['an edit', () => store.transcript.edit(id, { externalId: 'x2', parts: textParts('no'), tokens: 1, now: NOW })],
      ['a deletion', () => store.transcript.redact(id, { externalIds: ['x2'], now: NOW })],
      ['a reset', () => store.conversations.change(id, { kind: 'reset', now: NOW })],
    ])('are gone after %s', async (_, change) => {
      await wait(1, 4);
      await wait(5, 8);
      await change();
      expect((await view()).ready).toEqual([]);
      expect(await store.summaries.publish(id)).toBe('stale');
      expect((await store.conversations.find(HERE))?.compactedUpto).not.toBe(8);
    });

    it('leave their range to a gap that is opened', async () => {
      await wait(1, 4);
      expect(await kit.openGap(await kit.get(id), 6)).toBe('committed');
      expect(await view()).toMatchObject({ upto: 6, ready: [] });
      expect((await view()).stack).toHaveLength(1);
    });
  });
}
