import { beforeEach, describe, expect, it } from 'vitest';
import {
  type BlobId,
  makeChildKey,
  POST_HOLD_MS,
  platformOf,
  type Storage,
  type Store,
} from '../../../src/adapter-kit.ts';
import { fillLong, LONG_MESSAGES } from '../begin-erasure.ts';
import { CALL, HERE, type Kit, type Lab, NOW, post, THERE, THREAD } from '../store-kit.ts';

export function purgeContract(lab: Lab): void {
  describe('purge', () => {
    let storage: Storage;
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ storage, store, kit } = lab());
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

    it('deletes what its channel keeps under its key', async () => {
      const { state } = storage;
      const { id } = await kit.fill(1);
      const [one, other] = [`${platformOf(HERE)}.asked`, `${platformOf(HERE)}.threads`];
      const kept = [
        [one, THERE],
        [one, 'ada'],
        ['child', HERE],
        [`${platformOf(HERE)}s.asked`, HERE],
      ] as const;
      for (const [namespace, key] of [[one, HERE], [other, HERE], ...kept]) await state.set(namespace, key, 1);
      await store.conversations.change(id, { kind: 'purge' });
      for (const namespace of [one, other]) expect(await state.get(namespace, HERE)).toBeUndefined();
      for (const [namespace, key] of kept) expect(await state.get(namespace, key)).toBe(1);
    });

    it.each(['purge', 'reset'] as const)('takes the children along at a %s', async (kind) => {
      const { id } = await kit.fill(2, THREAD);
      const child = makeChildKey(THREAD, 'a');
      const inside = [await kit.fill(2, child), await kit.fill(1, makeChildKey(child, 'b'))];
      const others = [await kit.fill(2, makeChildKey(HERE, 'a')), await kit.fill(2, THERE)];
      const change = kind === 'reset' ? ({ kind, now: NOW } as const) : { kind };
      await store.conversations.change(id, change);
      for (const { id: gone } of inside) expect(await store.conversations.get(gone)).toBeNull();
      for (const { id: kept } of others) expect(await store.conversations.get(kept)).not.toBeNull();
      expect((await store.conversations.get(id)) === null).toBe(kind === 'purge');
    });

    it('ends a child and nothing else', async () => {
      const { id } = await kit.fill(2);
      const child = await kit.fill(2, makeChildKey(HERE, 'a'));
      await store.conversations.change(id, { kind: 'end' });
      await store.conversations.change(child.id, { kind: 'end' });
      expect(await store.conversations.get(child.id)).toBeNull();
      expect(await store.transcript.read(child.id, { fromSeq: 1, toSeq: 9, limit: 9 })).toEqual([]);
      expect((await kit.get(id)).nextSeq).toBe(3);
    });

    it('lists children only for those who ask', async () => {
      const child = makeChildKey(HERE, 'a');
      await kit.fill(2, THREAD);
      await kit.say('by a tool', { conversation: child, wantsReply: true });
      const page = { limit: 9, after: null, scope: { within: null } };
      for (const order of ['active', 'key', 'heard'] as const) {
        const listed = await store.conversations.list({ ...page, order });
        expect(listed.map(({ key }) => key)).toEqual([THREAD]);
      }
      const all = await store.conversations.list({ ...page, order: 'key', withChildren: true });
      expect(all.map(({ key }) => key).toSorted()).toEqual([child, THREAD].toSorted());
      expect(await store.conversations.due('reply', { now: NOW, limit: 9 })).toEqual([]);
      expect(await store.conversations.due('maintenance', { now: NOW + 60_000, limit: 9 })).toHaveLength(2);
    });

    it('deletes every row with the number of a conversation', async () => {
      const { id } = await kit.fill(4);
      const child = await kit.fill(2, makeChildKey(HERE, 'a'));
      for (const one of [id, child.id]) {
        await storage.state.of(one).set('spend', { calls: 1 });
        await store.blobs.put({ id: `b${one}` as BlobId, conversationId: one, text: 'x', now: NOW });
        await store.journal.addUsage(one, [CALL]);
        await store.journal.cache.note(one, {
          print: 'p',
          losses: [{ cause: 'edit', tokens: 1 }],
          at: NOW,
          revision: 0,
        });
        await kit.compact(await kit.claim('maintenance', one), kit.summary(1, 2));
      }
      expect(await kit.tablesNaming([id, child.id])).toEqual(expect.arrayContaining(['conversation_state', 'entry']));
      await store.conversations.change(child.id, { kind: 'end' });
      expect(await kit.tablesNaming([child.id])).toEqual([]);
      await store.conversations.change(id, { kind: 'purge' });
      await storage.state.of(id).set('spend', { calls: 2 });
      expect(await kit.tablesNaming([id])).toEqual([]);
    });

    it('hides a long conversation at once', async () => {
      const { id } = await fillLong(kit);
      const claim = await kit.claim('maintenance', id);
      await kit.compact(claim, kit.summary(1, 2), {
        memories: [kit.inserting('violets', [1]), kit.inserting('global', [2], { scope: 'global' })],
      });
      const erased = store.conversations.change(id, { kind: 'purge' });
      // A store with several connections may begin a later call first.
      while ((await store.conversations.get(id)) !== null);
      const [left, next] = await Promise.all([kit.tablesNaming([id]), kit.say('again')]);
      expect(left).toContain('entry');
      expect({ seq: next.seq, isSame: next.conversation.id === id }).toEqual({ seq: 1, isSame: false });
      const listed = await store.conversations.list({ order: 'active', limit: 9, after: null });
      expect(listed.map((one) => one.id)).toEqual([next.conversation.id]);
      expect(await store.transcript.read(id, { fromSeq: 1, toSeq: 99, limit: 99 })).toEqual([]);
      expect(await store.transcript.pick(id, [1])).toEqual([]);
      expect(await storage.search.entries({ conversationId: id, text: 'violets', limit: 9 })).toEqual([]);
      expect(await kit.recallable()).toEqual([]);
      expect(await kit.compact(claim, kit.summary(3, 4))).toBe('stale');
      await erased;
      expect(await kit.tablesNaming([id])).toEqual([]);
    });

    it('does nothing more for a hidden conversation', async () => {
      const { id } = await fillLong(kit);
      const { seq } = await kit.say('and now?', { wantsReply: true });
      await kit.commitTurn(await kit.claim('reply', id), { readUpto: seq - 1, posts: [post('a')], usage: [CALL] });
      await store.conversations.change(id, { kind: 'maintain', at: NOW });
      const erased = store.conversations.change(id, { kind: 'purge' });
      while ((await store.conversations.get(id)) !== null);
      const [left, claimed, ...found] = await Promise.all([
        kit.tablesNaming([id]),
        kit.tryClaim('maintenance', id, NOW + POST_HOLD_MS),
        store.conversations.due('reply', { now: NOW + POST_HOLD_MS, limit: 9 }),
        store.conversations.due('maintenance', { now: NOW + POST_HOLD_MS, limit: 9 }),
        store.outbox.pending(null),
        store.journal.spending({ by: 'conversation', since: null, conversationId: null, limit: 9 }),
      ]);
      expect(left).toContain('entry');
      expect({ found, claimed }).toEqual({ found: [[], [], [], []], claimed: null });
      await erased;
    });

    it.each(['hidden', 'deleted'] as const)('keeps nothing that is saved from a %s conversation', async (when) => {
      const { id } = await fillLong(kit);
      await kit.fill(1, THERE);
      const elsewhere = kit.inserting('elsewhere', [1], { place: THERE });
      if (elsewhere.kind !== 'insert') throw new Error('insert');
      await kit.save(null, elsewhere);
      const erased = store.conversations.change(id, { kind: 'purge' });
      while ((await store.conversations.get(id)) !== null);
      if (when === 'deleted') await erased;
      const again = { kind: 'corroborate', id: elsewhere.memory.id, sources: [1], promote: true } as const;
      const saved = await kit.save(id, kit.inserting('violets', [1]), again);
      // A store may refuse it.
      await Promise.allSettled([
        store.blobs.put({ id: 'late' as BlobId, conversationId: id, text: 'violets', now: NOW }),
      ]);
      await store.journal.cache.note(id, { print: 'p', losses: [], at: NOW, revision: 0 });
      await store.memories.recalled([elsewhere.memory.id], { conversationId: id, now: NOW });
      await erased;
      expect(saved).toEqual([null, null]);
      expect(await kit.recallable({ sharePublic: true })).toEqual(['elsewhere']);
      expect(await store.conversations.find(HERE)).toBeNull();
      expect(await kit.tablesNaming([id])).toEqual([]);
    });

    it('keeps no memory that is saved at the same time', async () => {
      for (let round = 0; round < 20; round += 1) {
        const { id } = await kit.fill(2);
        const saves = [1, 2, 1].map((seq, index) => kit.save(id, kit.inserting(`${round} ${index}`, [seq])));
        const erased = store.conversations.change(id, { kind: 'purge' });
        const late = [2, 1].map((seq, index) => kit.save(id, kit.inserting(`${round} late ${index}`, [seq])));
        await Promise.all([...saves, erased, ...late]);
        expect(await kit.recallable({ sharePublic: true })).toEqual([]);
        expect(await kit.tablesNaming([id])).toEqual([]);
      }
    });

    it('lets others write while it deletes', async () => {
      const { id } = await fillLong(kit);
      let isOver = false;
      const erased = store.conversations.change(id, { kind: 'purge' }).finally(() => {
        isOver = true;
      });
      let written = 0;
      for (; !isOver; written += 1) await kit.say('at the same time', { conversation: THERE });
      await erased;
      expect(written).toBeGreaterThan(LONG_MESSAGES / 4);
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
      const again = await kit.say('hello again');
      expect(again.seq).toBe(1);
      expect(again.conversation.id).not.toBe(id);
    });
  });
}
