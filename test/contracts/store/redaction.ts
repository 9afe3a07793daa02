import { beforeEach, describe, expect, it } from 'vitest';
import type { BlobId, MaintenanceRun, MemoryId, Storage, Store, SummaryId } from '../../../src/adapter-kit.ts';
import { condensed, type Kit, type Lab, NOW, post, READER, THERE, textParts } from '../store-kit.ts';

export function redactionContract(lab: Lab): void {
  describe('redaction', () => {
    let storage: Storage;
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ storage, store, kit } = lab());
    });

    it('deletes the text, once, and keeps the place', async () => {
      const { conversation } = await kit.say(
        'secret',
        {},
        { externalId: 'x1', mentions: [{ id: 'u2', name: 'Bob', kind: 'person' }] },
      );
      await kit.say('other', {}, { externalId: 'x2' });
      const redaction = { externalIds: ['x1', 'unknown'], now: NOW + 5 };
      expect(await store.transcript.redact(conversation.id, redaction)).toEqual([1]);
      expect(await store.transcript.redact(conversation.id, redaction)).toEqual([]);
      const entry = await store.transcript.byExternalId(conversation.id, 'x1');
      expect(entry).toMatchObject({ seq: 1, parts: [], mentions: [], tokens: 0, redactedAt: NOW + 5 });
      expect((await kit.get(conversation.id)).nextSeq).toBe(3);
    });

    const nothing = { memoryIds: [], tombstones: [], redactions: [], sentences: [], actor: 'u1', now: NOW };
    const struck = {
      sentences: [{ id: 'h1', text: 'secret' }],
      kind: 'strike',
      about: { id: 'u1', name: 'Ada' },
    } as const;
    /** How text of the conversation is deleted. It has a summary and a long tool result, and was given a memory. */
    const ways = {
      redacted: ({ id }: Talk) => store.transcript.redact(id, { externalIds: ['x1'], now: NOW }),
      edited: ({ id }: Talk) =>
        store.transcript.edit(id, { externalId: 'x1', parts: textParts('other'), tokens: 1, now: NOW }),
      struck: ({ id }: Talk) =>
        store.memories.forget({ ...nothing, sentences: [{ conversationId: id, seq: 1, ...struck }] }),
      summarised: ({ id: conversationId, summaryId }: Talk) =>
        store.memories.forget({ ...nothing, redactions: [{ conversationId, seqs: [], summaryIds: [summaryId] }] }),
      offloaded: ({ id: conversationId, blobId }: Talk) =>
        store.memories.forget({
          ...nothing,
          redactions: [{ conversationId, seqs: [], summaryIds: [], blobIds: [blobId] }],
        }),
      remembered: ({ memoryId }: Talk) => store.memories.forget({ ...nothing, memoryIds: [memoryId] }),
    };
    interface Talk {
      readonly id: number;
      readonly summaryId: SummaryId;
      readonly blobId: BlobId;
      readonly memoryId: MemoryId;
    }

    const talk = async (): Promise<Talk> => {
      const there = (await kit.say('secret', { conversation: THERE })).conversation;
      const [memoryId] = await kit.save(there.id, kit.inserting('secret', [1]));
      const { conversation, claim } = await kit.say(
        'secret',
        { wantsReply: true, claimLeaseMs: 9 },
        { externalId: 'x1' },
      );
      if (!memoryId || claim === null) throw new Error('no memory or no claim');
      const { id } = conversation;
      const blob = { id: 'b1' as BlobId, text: 'secret' };
      await kit.commitTurn(claim, { given: [memoryId], blobs: [blob] });
      const made = kit.summary(1, 1);
      const held = await kit.claim('maintenance', id);
      await kit.compact(held, made);
      const failed = { work: 'maintenance', kind: 'failed', error: 'rejected "secret"', nextAttemptAt: NOW } as const;
      await store.conversations.release(held, failed);
      return { id, summaryId: made.id, blobId: blob.id, memoryId };
    };

    it.each(Object.entries(ways))('drops what may quote text that is %s', async (_, remove) => {
      const here = await talk();
      const { id } = here;
      const own = storage.state.of(id);
      const { revision } = await kit.get(id);
      await own.set('failure', 'rejected "secret"', { quotes: revision });
      await own.set('spend', { calls: 1 });
      for (const error of [null, 'rejected "secret"']) await store.journal.addRun(runOf(id, error), revision);
      await store.journal.cache.note(id, { print: 'print of "secret"', losses: [], at: NOW, revision });
      await remove(here);
      expect([await own.get('failure'), await own.get('spend')]).toEqual([undefined, { calls: 1 }]);
      expect(await kit.get(id)).toMatchObject({ lastError: null, failures: 1 });
      expect((await store.journal.runs(id, 9)).map(({ error }) => error)).toEqual([null]);
      expect(await store.journal.cache.lastRequest(id)).toBeNull();
    });

    it('drops what may quote a memory without sources', async () => {
      const { id } = await talk();
      const there = (await kit.say('more', { conversation: THERE })).conversation;
      const own = storage.state.of(id);
      await own.set('failure', 'rejected "secret"', { quotes: (await kit.get(id)).revision });
      const [source] = await store.transcript.pick(there.id, [1]);
      await store.transcript.redact(there.id, { externalIds: [source?.externalId ?? ''], now: NOW });
      expect(await own.get('failure')).toBeUndefined();
    });

    it.each(Object.entries(ways))('stores no late quotes of text that is %s', async (_, remove) => {
      const here = await talk();
      const { id } = here;
      const own = storage.state.of(id);
      const held = await kit.claim('maintenance', id);
      const { revision } = await kit.get(id);
      await remove(here);
      // Another process begins a job before the first one has failed.
      await kit.tryClaim('maintenance', id);
      await own.set('failure', 'rejected "secret"', { quotes: revision });
      await store.journal.addRun(runOf(id, 'rejected "secret"'), revision);
      const failed = { work: 'maintenance', kind: 'failed', error: 'rejected "secret"', nextAttemptAt: NOW } as const;
      await store.conversations.release(held, failed);
      await store.journal.cache.note(id, { print: 'print of "secret"', losses: [], at: NOW, revision });
      expect(await own.get('failure')).toBeUndefined();
      expect((await kit.get(id)).lastError).toBeNull();
      expect((await store.journal.runs(id, 9)).map(({ error }) => error)).toEqual([null]);
      expect(await store.journal.cache.lastRequest(id)).toBeNull();
    });

    it('stores quotes of what is said afterwards', async () => {
      const here = await talk();
      const { id } = here;
      await ways.redacted(here);
      const { revision } = await kit.get(id);
      await storage.state.of(id).set('failure', 'another', { quotes: revision });
      await store.journal.addRun(runOf(id, 'another'), revision);
      await store.journal.cache.note(id, { print: 'another', losses: [], at: NOW, revision });
      expect(await storage.state.of(id).get('failure')).toBe('another');
      expect((await store.journal.runs(id, 9)).map(({ error }) => error)).toEqual(['another']);
      expect(await store.journal.cache.lastRequest(id)).toBe('another');
    });

    it('turns its summary into a gap and drops its memories', async () => {
      const { id } = await kit.fill(2);
      await kit.say('secret', {}, { externalId: 'x3' });
      await kit.fill(3);
      const held = await kit.claim('maintenance', id);
      const memories = [kit.inserting('alone', [3]), kit.inserting('shared', [2, 3])];
      const made = kit.summary(1, 4);
      await kit.compact(held, made, { memories });
      await store.transcript.redact(id, { externalIds: ['x3'], now: NOW });
      expect(await kit.stack(id)).toEqual(['gap 1-4']);
      expect(await store.summaries.find(made.id)).toMatchObject({ kind: 'gap', text: '', model: null });
      expect(await kit.recallable()).toEqual(['shared']);
      const [shared] = await store.memories.list({ reader: READER, limit: 9, offset: 0 });
      expect(shared?.sources.map((source) => source.seq)).toEqual([2]);
      expect((await kit.get(id)).maintainAt).toBe(NOW);
    });

    it('dissolves condensed summaries and erases what they once said', async () => {
      const { id, upper } = await condensed(kit);
      await store.transcript.redact(id, { externalIds: ['x3'], now: NOW });
      expect(await kit.stack(id)).toEqual(['L0 1-2', 'gap 3-4', 'L1 5-8']);
      expect((await store.summaries.find(upper))?.text ?? '').toBe('');
    });

    it('hands the parts of an erased summary to the next', async () => {
      const { id, upper } = await condensed(kit);
      const [first] = await store.summaries.children(upper);
      if (first === undefined) throw new Error('no parts');
      const derived = [{ conversationId: id, seqs: [], summaryIds: [first.id] }];
      await store.transcript.redact(id, { externalIds: [], derived, now: NOW });
      expect(await store.summaries.find(first.id)).toBeNull();
      const parts = (await store.summaries.children(upper)).map(({ level, fromSeq, toSeq }) => [level, fromSeq, toSeq]);
      expect(parts).toEqual([
        [0, 1, 2],
        [0, 3, 4],
        [1, 5, 8],
      ]);
      await store.transcript.redact(id, { externalIds: ['x3'], now: NOW });
      expect(await kit.stack(id)).toEqual(['L0 1-2', 'gap 3-4', 'L1 5-8']);
    });

    it('erases superseded versions too', async () => {
      const { id } = await kit.fill(2);
      await kit.say('secret', {}, { externalId: 'x3' });
      const held = await kit.claim('maintenance', id);
      const old = kit.summary(1, 3);
      await kit.compact(held, old);
      await kit.compact(held, kit.summary(1, 3), { rewrites: old.id });
      expect((await store.summaries.find(old.id))?.text).not.toBe('');
      await store.transcript.redact(id, { externalIds: ['x3'], now: NOW });
      expect((await store.summaries.find(old.id))?.text).toBe('');
      expect(await kit.stack(id)).toEqual(['gap 1-3']);
    });

    it('deletes a reply with its unsent posts and tool results', async () => {
      const { claim, conversation } = await kit.say('q', { wantsReply: true, claimLeaseMs: 9 });
      if (claim === null) throw new Error('no claim');
      const blob = 'b1' as BlobId;
      await store.blobs.put({ id: blob, conversationId: conversation.id, text: 'whole', now: NOW });
      const result = {
        kind: 'tool-result',
        callId: 'c',
        tool: 't',
        text: 'who',
        isError: false,
        blob: { id: blob, sizeBytes: 5 },
      } as const;
      const turn = await kit.commitTurn(claim, {
        entries: [{ role: 'assistant', parts: [...textParts('a'), result], tokens: 2, at: NOW }],
        posts: [post('a'), post('b', 1)],
      });
      if (turn.kind !== 'committed') throw new Error('stale');
      await store.outbox.sent(turn.posts[0]?.id ?? 0, 'posted');
      expect(await store.transcript.redact(conversation.id, { externalIds: ['posted'], now: NOW })).toEqual([2]);
      expect(await store.outbox.pending(conversation.id)).toEqual([]);
      expect(await store.blobs.read(blob, { conversationId: conversation.id, from: 0, length: 9 })).toBeNull();
    });

    it('expires entries by age, with everything derived', async () => {
      const first = await kit.say('old', {}, { at: NOW - 100, externalId: 'x1' });
      const { id } = first.conversation;
      await kit.say('older', {}, { at: NOW - 200 });
      await kit.say('new', {}, { at: NOW });
      const held = await kit.claim('maintenance', id);
      await kit.compact(held, kit.summary(1, 2), {
        memories: [kit.inserting('alone', [1]), kit.inserting('kept', [1, 3])],
      });
      await store.conversations.change(id, { kind: 'expire', before: NOW - 50, now: NOW });
      const entries = await store.transcript.read(id, { fromSeq: 1, toSeq: 9, limit: 9 });
      expect(entries.map((entry) => entry.redactedAt)).toEqual([NOW, NOW, null]);
      expect(await kit.stack(id)).toEqual(['gap 1-2']);
      expect(await kit.recallable()).toEqual(['kept']);
    });
  });
}

function runOf(conversationId: number, error: string | null): MaintenanceRun {
  return {
    id: `run ${error}`,
    conversationId,
    work: 'compact',
    trigger: 'manual',
    fromSeq: 1,
    toSeq: 1,
    error,
    outcome: error === null ? 'committed' : 'failed',
    tokensBefore: 9,
    tokensAfter: 9,
    memories: 0,
    model: 'm',
    inputTokens: 1,
    outputTokens: 1,
    startedAt: NOW,
    durationMs: 5,
  };
}
