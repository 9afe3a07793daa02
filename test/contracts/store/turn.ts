import { beforeEach, describe, expect, it } from 'vitest';
import type { BlobId, Store } from '../../../src/adapter-kit.ts';
import { CALL, type Kit, type Lab, NOW, post, textParts } from '../store-kit.ts';

export function turnContract(lab: Lab): void {
  describe('a turn', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    const asked = () => kit.say('question', { wantsReply: true, claimLeaseMs: 500 });

    // Shows: O8
    it('commits everything together with the end of its claim', async () => {
      const { claim, conversation } = await asked();
      if (claim === null) throw new Error('no claim');
      const late = await kit.say('meanwhile', { wantsReply: true });
      const calibration = { model: 'm', ratio: 1.1, samples: 1, lastInputTokens: 80, revision: 0 };
      const result = await kit.commitTurn(claim, {
        entries: [
          {
            role: 'assistant',
            parts: [{ kind: 'tool-call', callId: 'c1', tool: 'add', input: { a: [1, null] } }],
            tokens: 4,
            at: NOW,
          },
          {
            role: 'tool',
            parts: [{ kind: 'tool-result', callId: 'c1', tool: 'add', text: '3', isError: false, blob: null }],
            tokens: 1,
            at: NOW,
          },
          { role: 'assistant', parts: textParts('three'), tokens: 2, at: NOW },
        ],
        posts: [post('three'), post('more', 1)],
        usage: [CALL],
        calibration,
        maintainAt: NOW + 5,
        now: NOW + 2,
      });
      if (result.kind !== 'committed') throw new Error('stale');
      expect(result.entries.map((entry) => [entry.seq, entry.turn, entry.role])).toEqual([
        [3, 1, 'assistant'],
        [4, 1, 'tool'],
        [5, 1, 'assistant'],
      ]);
      expect(result.conversation).toMatchObject({
        nextSeq: 6,
        answeredUpto: 1,
        replyDueSeq: late.seq,
        replyUntil: null,
        calibration,
        maintainAt: NOW + 5,
      });
      expect(await kit.get(conversation.id)).toEqual(result.conversation);
      expect(await store.transcript.read(conversation.id, { fromSeq: 3, toSeq: 5, limit: 9 })).toEqual(result.entries);
      expect(await store.outbox.pending(conversation.id)).toEqual(result.posts);
      expect(await store.journal.usage(conversation.id)).toMatchObject([
        { purpose: 'reply', calls: 1, inputTokens: 10 },
      ]);
    });

    it('changes nothing once its claim is lost, released or used', async () => {
      const { claim, conversation } = await asked();
      if (claim === null) throw new Error('no claim');
      const taken = await kit.claim('reply', conversation.id, NOW + 500);
      expect(await kit.commitTurn(claim)).toEqual({ kind: 'stale' });
      expect((await kit.get(conversation.id)).nextSeq).toBe(2);
      expect((await kit.commitTurn(taken)).kind).toBe('committed');
      expect(await kit.commitTurn(taken)).toEqual({ kind: 'stale' });
      await kit.ask();
      const third = await kit.claim('reply', conversation.id);
      await store.conversations.release(third, { work: 'reply', answeredUpto: null });
      expect(await kit.commitTurn(third)).toEqual({ kind: 'stale' });
      expect((await kit.get(conversation.id)).nextSeq).toBe(4);
    });

    it('commits after its lease ran out if nobody took it', async () => {
      const { claim } = await asked();
      if (claim === null) throw new Error('no claim');
      expect((await kit.commitTurn(claim, { now: NOW + 99_000 })).kind).toBe('committed');
    });

    it('keeps an earlier due time of maintenance', async () => {
      const { claim, conversation } = await asked();
      if (claim === null) throw new Error('no claim');
      await store.conversations.change(conversation.id, { kind: 'maintain', at: NOW - 5 });
      await kit.commitTurn(claim, { maintainAt: NOW + 5 });
      expect((await kit.get(conversation.id)).maintainAt).toBe(NOW - 5);
    });

    it('schedules maintenance when everything before it was done', async () => {
      const { claim, conversation } = await asked();
      if (claim === null) throw new Error('no claim');
      const { id } = conversation;
      const job = await store.conversations.claim({
        work: 'maintenance',
        conversationId: id,
        now: NOW,
        leaseMs: 5000,
      });
      if (job === null) throw new Error('no job');
      const end = { seenNextSeq: job.conversation.nextSeq, maintainAt: null };
      await store.conversations.release(job.claim, { work: 'maintenance', kind: 'done', ...end });
      await kit.commitTurn(claim, { maintainAt: NOW + 5 });
      expect((await kit.get(id)).maintainAt).toBe(NOW + 5);
    });

    it('is stale in a conversation that was purged', async () => {
      const { claim, conversation } = await asked();
      if (claim === null) throw new Error('no claim');
      await store.conversations.change(conversation.id, { kind: 'purge' });
      expect(await kit.commitTurn(claim)).toEqual({ kind: 'stale' });
    });

    it.each([
      ['a person edited what it read', 'x1', 'person', 1, 'stale'],
      ['a person edited what it did not read', 'x2', 'person', 1, 'committed'],
      ['a person edited what its view left out', 'x1', 'person', 2, 'committed'],
      ['a bot edited what it read', 'x1', 'bot', 1, 'committed'],
    ] as const)('whose conversation changed because %s', async (_, externalId, kind, fromSeq, expected) => {
      const author = { id: 'u1', name: 'Ada', kind };
      const asking = { wantsReply: true, claimLeaseMs: 500 };
      const { claim, conversation } = await kit.say('question', asking, { externalId: 'x1', author });
      if (claim === null) throw new Error('no claim');
      const { id, revision } = conversation;
      await kit.say('more', {}, { externalId: 'x2' });
      await store.transcript.edit(id, { externalId, parts: textParts('other'), tokens: 1, now: NOW });
      const read = { fromSeq, revision };
      expect((await kit.commitTurn(claim, { read })).kind).toBe(expected);
      expect((await kit.get(id)).replyUntil).toBeNull();
      expect(await kit.tryClaim('reply', id)).toEqual(expected === 'stale' ? expect.anything() : null);
    });

    it('commits what it read after an edit', async () => {
      const asking = { wantsReply: true, claimLeaseMs: 500 };
      const { claim, conversation } = await kit.say('question', asking, { externalId: 'x1' });
      if (claim === null) throw new Error('no claim');
      const { id } = conversation;
      await store.transcript.edit(id, { externalId: 'x1', parts: textParts('other'), tokens: 1, now: NOW });
      const { revision } = await kit.get(id);
      expect((await kit.commitTurn(claim, { read: { fromSeq: 1, revision } })).kind).toBe('committed');
    });

    it('stores long texts with the turn, or none', async () => {
      const blobs = [{ id: 'b1' as BlobId, text: 'a long result' }];
      const range = { from: 2, length: 4 };
      for (const isLost of [true, false]) {
        const { claim, conversation, seq } = await asked();
        if (claim === null) throw new Error('no claim');
        const { id: conversationId } = conversation;
        if (isLost) await store.conversations.change(conversationId, { kind: 'reset', now: NOW });
        const { kind } = await kit.commitTurn(claim, { readUpto: seq, blobs });
        expect(kind).toBe(isLost ? 'stale' : 'committed');
        const found = await store.blobs.read('b1' as BlobId, { conversationId, ...range });
        expect(found).toEqual(isLost ? null : { text: 'long', totalLength: 13 });
      }
    });

    it('owes the next reply from the next question', async () => {
      const { claim } = await asked();
      if (claim === null) throw new Error('no claim');
      await kit.say('chatter');
      await kit.commitTurn(claim, { readUpto: 2 });
      const next = await kit.say('next question', { wantsReply: true });
      expect(next.conversation).toMatchObject({ replyDueSeq: 4, replyDueFrom: 4, answeredUpto: 2 });
    });
  });
}
