import { beforeEach, describe, expect, it } from 'vitest';
import type { MemoryId, Store } from '../../../src/adapter-kit.ts';
import { ABROAD, HERE, type Kit, type Lab, NOW, READER, THERE } from '../store-kit.ts';

export function memoriesContract(lab: Lab): void {
  describe('memories', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('keeps the whole record with its sources', async () => {
      const { conversation } = await kit.say('I like tea', {}, { externalId: 'x1' });
      const memory = kit.memory('likes tea', {
        kind: 'preference',
        subjectId: 'u1',
        subjectName: 'Ada',
        pinned: true,
        validUntil: NOW + 9,
      });
      expect(await kit.save(conversation.id, { kind: 'insert', memory, sources: [1] })).toEqual([memory.id]);
      expect(await store.memories.find(memory.id)).toEqual({
        ...memory,
        supersededBy: null,
        recallCount: 0,
        lastRecalledAt: null,
        createdAt: NOW,
        updatedAt: NOW,
        sources: [{ conversationId: conversation.id, conversation: HERE, seq: 1, externalId: 'x1', authorId: 'u1' }],
      });
      expect(await store.memories.find('none' as MemoryId)).toBeNull();
      expect((await store.memories.events(memory.id)).map((event) => event.kind)).toEqual(['added']);
    });

    it('skips a known statement, but not in another place', async () => {
      const { id } = await kit.fill(1);
      const first = kit.inserting('tea', [1]);
      const rejected = kit.inserting('no', [1], { state: 'rejected' });
      const elsewhere = kit.inserting('tea', [1], { place: THERE });
      const ids = await kit.save(id, first, kit.inserting('tea', [1]), rejected, kit.inserting('no', [1]), elsewhere);
      expect(ids.map((found) => found !== null)).toEqual([true, false, true, false, true]);
    });

    it('skips a known statement, but not about another person', async () => {
      const { id } = await kit.fill(1);
      const about = (subjectId: string | null) => kit.inserting('tea', [1], { subjectId });
      const ids = await kit.save(id, about('u1'), about('u2'), about(null), about('u1'), about(null));
      expect(ids.map((found) => found !== null)).toEqual([true, true, true, false, false]);
    });

    it('adds a source and promotes a repeated statement', async () => {
      const { id } = await kit.fill(3);
      const memory = kit.memory('tea', { state: 'candidate' });
      await kit.save(id, { kind: 'insert', memory, sources: [1] });
      await kit.save(id, { kind: 'corroborate', id: memory.id, sources: [1, 3], promote: true });
      const found = await store.memories.find(memory.id);
      expect(found).toMatchObject({ state: 'active' });
      expect(found?.sources.map((source) => source.seq)).toEqual([1, 3]);
      expect((await store.memories.events(memory.id)).map((event) => event.kind)).toEqual([
        'added',
        'corroborated',
        'promoted',
      ]);
      expect(await kit.save(id, { kind: 'corroborate', id: 'none' as MemoryId, sources: [1], promote: true })).toEqual([
        null,
      ]);
    });

    it('keeps contradicted statements, each pointing to its successor', async () => {
      const { id } = await kit.fill(3);
      const tea = kit.memory('tea');
      const coffee = kit.memory('coffee');
      const teaAgain = kit.memory('tea');
      await kit.save(id, { kind: 'insert', memory: tea, sources: [1] });
      await kit.save(id, { kind: 'supersede', id: tea.id, memory: coffee, sources: [2] });
      expect(await store.memories.find(tea.id)).toMatchObject({ state: 'superseded', supersededBy: coffee.id });
      await kit.save(id, { kind: 'supersede', id: coffee.id, memory: teaAgain, sources: [3] });
      expect(await store.memories.list({ reader: READER, states: ['active'], limit: 9, offset: 0 })).toMatchObject([
        { id: teaAgain.id },
      ]);
    });

    it('lists only what the reader may read', async () => {
      const { id } = await kit.fill(1);
      const workspace = 'terminal:local';
      await kit.save(
        id,
        kit.inserting('here public', [1]),
        kit.inserting('here private', [1], { audience: 'private' }),
        kit.inserting('there public', [1], { place: THERE }),
        kit.inserting('there private', [1], { place: THERE, audience: 'private' }),
        kit.inserting('there of another agent', [1], { place: THERE, agentId: 'bob' }),
        kit.inserting('abroad', [1], { place: ABROAD, workspace: 'terminal:foreign' }),
        kit.inserting('everywhere', [], { scope: 'global', place: '', workspace: '' }),
      );
      const sorted = async (over: Parameters<Kit['recallable']>[0]) => (await kit.recallable(over)).toSorted();
      expect(await sorted({ workspace })).toEqual(['everywhere', 'here public']);
      expect(await sorted({ audience: 'private' })).toEqual(['everywhere', 'here private', 'here public']);
      expect(await sorted({ sharePublic: true })).toEqual(['everywhere', 'here public', 'there public']);
      expect(await sorted({ sharePublic: true, audience: 'private' })).toEqual([
        'everywhere',
        'here private',
        'here public',
      ]);
      expect(await sorted({ place: 'terminal:x:y', workspace: 'terminal:x', sharePublic: true })).toEqual([
        'everywhere',
      ]);
    });

    it('lists those whose ids begin with a text', async () => {
      const { id } = await kit.fill(1);
      const ids = ['aa1', 'aa2', 'ab1', 'a%1'] as MemoryId[];
      await kit.save(id, ...ids.map((memoryId) => kit.inserting(memoryId, [1], { id: memoryId })));
      const found = async (idBeginning: string, reader = READER) =>
        (await store.memories.list({ reader, idBeginning, states: ['active'], limit: 9, offset: 0 })).map(
          (memory) => memory.id,
        );
      expect((await found('aa')).toSorted()).toEqual(['aa1', 'aa2']);
      expect(await found('a%')).toEqual(['a%1']);
      expect(await found('b')).toEqual([]);
      expect(await found('')).toHaveLength(4);
      expect(await found('aa', { ...READER, place: 'terminal:local:nowhere' })).toEqual([]);
    });

    it('lists pinned, important, then newest, with filters and pages', async () => {
      const { id } = await kit.fill(1);
      await kit.save(
        id,
        kit.inserting('low', [1], { importance: 0.1 }),
        kit.inserting('high', [1], { importance: 0.9, subjectId: 'u1' }),
        kit.inserting('pinned', [1], { importance: 0.2, pinned: true, kind: 'instruction' }),
        kit.inserting('low and newer', [1], { importance: 0.1, state: 'candidate' }),
      );
      expect(await kit.recallable()).toEqual(['pinned', 'high', 'low and newer', 'low']);
      const texts = async (query: object) =>
        (await store.memories.list({ reader: READER, limit: 9, offset: 0, ...query })).map((item) => item.text);
      expect(await texts({ kinds: ['instruction'] })).toEqual(['pinned']);
      expect(await texts({ states: ['candidate'] })).toEqual(['low and newer']);
      expect(await texts({ subjectId: 'u1' })).toEqual(['high']);
      expect(await texts({ fingerprints: ['print of low', 'print of none'] })).toEqual(['low']);
      expect(await texts({ ids: [] })).toEqual([]);
      expect(await texts({ limit: 2, offset: 1 })).toEqual(['high', 'low and newer']);
      for (const query of [{}, { states: ['active', 'candidate'] }, { states: ['active'] }] as const) {
        const all = await store.memories.list({ reader: READER, limit: 9, offset: 0, ...query });
        for (const [index, after] of all.entries()) {
          expect(await texts({ ...query, after })).toEqual(all.slice(index + 1).map(({ text }) => text));
        }
      }
    });

    it('changes a record with its event, reporting a missing one', async () => {
      const { id } = await kit.fill(1);
      const memory = kit.memory('tea', { validUntil: NOW });
      await kit.save(id, { kind: 'insert', memory, sources: [1] });
      const event = { kind: 'edited', at: NOW + 5, actor: 'u1', detail: { before: 1 } } as const;
      const change = { text: 'green tea', fingerprint: 'f2', pinned: true, validUntil: null };
      expect(await store.memories.change(memory.id, change, event)).toBe(true);
      expect(await store.memories.find(memory.id)).toMatchObject({ ...change, updatedAt: NOW + 5, kind: 'fact' });
      expect((await store.memories.events(memory.id)).at(-1)).toEqual({ memoryId: memory.id, ...event });
      expect(await store.memories.change('none' as MemoryId, change, event)).toBe(false);
    });

    it('counts recalls', async () => {
      const { id } = await kit.fill(1);
      const memory = kit.memory('tea');
      await kit.save(id, { kind: 'insert', memory, sources: [1] });
      await store.memories.recalled([memory.id, 'none' as MemoryId], { conversationId: id, now: NOW + 7 });
      expect(await store.memories.find(memory.id)).toMatchObject({ recallCount: 1, lastRecalledAt: NOW + 7 });
    });

    it('forgets what rests only on a redacted answer', async () => {
      const { id } = await kit.ask();
      await kit.commitTurn(await kit.claim('reply', id));
      const writes = [kit.inserting('guess', [2]), kit.inserting('said', [1]), kit.inserting('both', [1, 2])];
      await kit.save(id, ...writes);
      const redactions = [{ conversationId: id, seqs: [1, 2], summaryIds: [] }];
      const none = { memoryIds: [], tombstones: [], sentences: [] };
      await store.memories.forget({ ...none, redactions, actor: 'u1', now: NOW });
      expect((await kit.recallable()).toSorted()).toEqual(['both', 'said']);
    });

    it('forgets for good: no record, text or way back', async () => {
      const { id } = await kit.fill(2);
      const held = await kit.claim('maintenance', id);
      const tea = kit.memory('tea');
      await kit.compact(held, kit.summary(1, 2), {
        memories: [{ kind: 'insert', memory: tea, sources: [1] }, kit.inserting('dog', [1])],
      });
      await store.memories.forget({
        memoryIds: [tea.id, 'none' as MemoryId],
        tombstones: [{ place: HERE, fingerprint: tea.fingerprint }],
        redactions: [
          { conversationId: id, seqs: [1, 99], summaryIds: [] },
          { conversationId: 99, seqs: [1], summaryIds: [] },
        ],
        sentences: [],
        actor: 'u1',
        now: NOW,
      });
      expect(await store.memories.find(tea.id)).toBeNull();
      expect(await store.memories.events(tea.id)).toEqual([]);
      expect((await store.transcript.pick(id, [1]))[0]).toMatchObject({ parts: [], redactedAt: NOW });
      expect(await kit.stack(id)).toEqual(['gap 1-2']);
      expect(await kit.recallable()).toEqual(['dog']);
      expect(await kit.save(id, kit.inserting('tea', [2]))).toEqual([null]);
      expect(await kit.save(id, kit.inserting('tea', [2], { place: THERE }))).not.toEqual([null]);
      expect(await store.memories.forgotten(HERE, [tea.fingerprint, 'other'])).toEqual(new Set([tea.fingerprint]));
      expect(await store.memories.forgotten(THERE, [tea.fingerprint])).toEqual(new Set());
    });

    it('frees a superseded memory of its forgotten successor', async () => {
      const { id } = await kit.fill(2);
      const tea = kit.memory('tea');
      const coffee = kit.memory('coffee');
      await kit.save(id, { kind: 'insert', memory: tea, sources: [1] });
      await kit.save(id, { kind: 'supersede', id: tea.id, memory: coffee, sources: [2] });
      await store.memories.forget({
        memoryIds: [coffee.id],
        tombstones: [],
        redactions: [],
        sentences: [],
        actor: 'u1',
        now: NOW,
      });
      expect(await store.memories.find(tea.id)).toMatchObject({ state: 'superseded', supersededBy: null });
    });

    it('keeps what the operator adds without sources', async () => {
      const memory = kit.memory('rule', {
        scope: 'global',
        place: '',
        workspace: '',
        trust: 'operator',
        extractedBy: null,
      });
      await kit.save(null, { kind: 'insert', memory, sources: [] });
      expect(await store.memories.find(memory.id)).toMatchObject({ sources: [], extractedBy: null, scope: 'global' });
    });
  });
}
