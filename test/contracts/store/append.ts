import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/adapter-kit.ts';
import { HERE, type Kit, type Lab, NOW, post, stored, THERE } from '../store-kit.ts';

export function appendContract(lab: Lab): void {
  describe('append', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('numbers the messages of each conversation from 1 without gaps', async () => {
      const results = [];
      for (const key of [HERE, THERE, HERE, HERE, THERE]) results.push(await kit.say('hi', { conversation: key }));
      expect(results.map((result) => result.seq)).toEqual([1, 1, 2, 3, 2]);
      expect(results.at(-1)?.conversation).toMatchObject({
        key: THERE,
        nextSeq: 3,
        compactedUpto: 0,
        contextFrom: 1,
      });
    });

    it('becomes durable, also as a redelivery', async () => {
      const message = { externalId: 'x1' };
      const results = [await kit.append({ message }), await kit.append({ message })];
      expect(results.map(({ kind }) => kind)).toEqual(['stored', 'duplicate']);
      for (const { durable } of results) await expect(durable).resolves.toBeUndefined();
    });

    it('keeps everything about a message', async () => {
      const parts = [
        { kind: 'text', text: 'look 東京 🙂' },
        { kind: 'attachment', name: 'a.png', mediaType: 'image/png', sizeBytes: 12, reference: 'https://x/a.png' },
      ] as const;
      const mentions = [{ id: 'u2', name: 'Bob', kind: 'person' }] as const;
      const message = { externalId: 'x1', parts, mentions, replyTo: 'x0', tokens: 9, at: NOW - 5 };
      const { conversation } = stored(await kit.append({ message, wantsReply: true }));
      expect(await store.transcript.read(conversation.id, { fromSeq: 1, toSeq: 9, limit: 9 })).toEqual([
        {
          seq: 1,
          externalId: 'x1',
          role: 'user',
          turn: null,
          author: { id: 'u1', name: 'Ada', kind: 'person' },
          parts,
          replyTo: 'x0',
          mentions,
          tokens: 9,
          at: NOW - 5,
          editedAt: null,
          redactedAt: null,
          wantsReply: true,
        },
      ]);
    });

    it('stores posts with a message, and none with a redelivery', async () => {
      const image = { name: 'a.png', mediaType: 'image/png', base64: 'AAE=', text: 'a.png' };
      const attachment = { kind: 'attachment', ...image } as const;
      const rows = [
        { ...post('Unasked.'), unaskedAt: NOW },
        { ...post('', 1), body: attachment, unaskedAt: NOW },
      ];
      const message = { externalId: 'send:1', role: 'assistant', author: null } as const;
      const first = stored(await kit.append({ message, posts: { rows, heldUntil: NOW + 5 } }));
      const again = await kit.append({ message, posts: { rows, heldUntil: NOW + 5 } });
      expect(again).toMatchObject({ kind: 'duplicate', seq: first.seq });
      expect(first.posts).toMatchObject(rows);
      expect(await store.outbox.pending(first.conversation.id)).toEqual(first.posts);
      const query = { platform: 'terminal', limit: 9 };
      expect(await store.outbox.take({ ...query, now: NOW + 4 })).toEqual([]);
      expect(await store.outbox.take({ ...query, now: NOW + 5 })).toEqual(first.posts);
    });

    it('stores a message and its answer as one', async () => {
      await kit.say('before');
      const said = { externalId: null, author: null, replyTo: null, mentions: [], tokens: 2, at: NOW };
      const answer = { ...said, role: 'assistant', parts: [{ kind: 'text', text: 'Pong.' }] } as const;
      const over = { answer, posts: { rows: [post('Pong.')], heldUntil: NOW } };
      const first = await kit.say('ping', over, { externalId: 'x1' });
      expect(first).toMatchObject({ seq: 2, claim: null, conversation: { nextSeq: 4, replyDueSeq: 0 } });
      expect(await kit.append({ ...over, message: { externalId: 'x1' } })).toMatchObject({ kind: 'duplicate', seq: 2 });
      const entries = await store.transcript.read(first.conversation.id, { fromSeq: 2, toSeq: 9, limit: 9 });
      expect(entries).toMatchObject([
        { seq: 2, role: 'user', turn: null },
        { seq: 3, role: 'assistant', turn: 2, parts: [{ kind: 'text', text: 'Pong.' }] },
      ]);
      expect(first.posts).toMatchObject([{ turn: 2, body: { text: 'Pong.' } }]);
      const { id } = first.posts[0] ?? { id: 0 };
      await store.outbox.sent(id, 'p1');
      expect(await store.transcript.byExternalId(first.conversation.id, 'p1')).toMatchObject({ seq: 3 });
    });

    it('recognises a redelivery and changes neither claim nor debt', async () => {
      const first = await kit.say('one', {}, { externalId: 'x1' });
      const again = await kit.append({ wantsReply: true, claimLeaseMs: 500, message: { externalId: 'x1' } });
      expect(again).toMatchObject({ kind: 'duplicate', seq: 1 });
      expect(await kit.get(first.conversation.id)).toEqual(first.conversation);
    });

    it('says when the conversation was last active before', async () => {
      await kit.say('one', { now: NOW + 1 });
      const second = await kit.say('two', { now: NOW + 7, wantsReply: true, claimLeaseMs: 500 });
      expect(second).toMatchObject({ previousActivityAt: NOW + 1, conversation: { lastActivityAt: NOW + 7 } });
      if (second.claim === null) throw new Error('nothing was claimed');
      const turn = await kit.commitTurn(second.claim, { now: NOW + 9 });
      expect(turn).toMatchObject({ previousActivityAt: NOW + 7, conversation: { lastActivityAt: NOW + 9 } });
    });

    it('accepts external ids per conversation, and messages without any', async () => {
      await kit.say('one', {}, { externalId: 'x1' });
      expect((await kit.say('two', { conversation: THERE }, { externalId: 'x1' })).seq).toBe(1);
      await kit.say('three', {}, { externalId: null });
      expect((await kit.say('four', {}, { externalId: null })).seq).toBe(3);
    });

    it('keeps many concurrent messages once, numbered without gaps', async () => {
      const ids = Array.from({ length: 60 }, (_, index) => `x${index % 40}`);
      const results = await Promise.all(ids.map((externalId) => kit.append({ message: { externalId } })));
      const seqs = results.filter((result) => result.kind === 'stored').map((result) => result.seq);
      expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
      expect(results.filter((result) => result.kind === 'duplicate')).toHaveLength(20);
    });

    it('stores the debt of a reply, claimed when free', async () => {
      const over = { wantsReply: true, claimLeaseMs: 500 };
      await kit.say('not asked');
      const first = await kit.say('asked', over);
      const { replyEpoch } = first.conversation;
      expect(first.claim).toEqual({ conversationId: first.conversation.id, epoch: replyEpoch, until: NOW + 500 });
      expect(first.conversation).toMatchObject({ replyDueSeq: 2, replyDueFrom: 2, answeredUpto: 0 });
      const second = await kit.say('asked again', over);
      expect(second.claim).toBeNull();
      expect(second.conversation).toMatchObject({ replyDueSeq: 3, replyDueFrom: 2, replyEpoch });
      const later = await kit.say('and again', { ...over, now: NOW + 500 });
      expect(later.claim?.epoch).toBeGreaterThan(replyEpoch);
    });

    it('claims nothing for a message that asks for no reply', async () => {
      const { claim, conversation } = await kit.say('chatter', { claimLeaseMs: 500 });
      expect(claim).toBeNull();
      expect(conversation).toMatchObject({ replyDueSeq: 0, replyUntil: null });
    });

    it('plans the idle extraction and keeps an earlier due time', async () => {
      const { conversation } = await kit.say('one');
      expect(conversation.maintainAt).toBe(NOW + 60_000);
      const later = await kit.say('two', { now: NOW + 1_000 });
      expect(later.conversation.maintainAt).toBe(NOW + 60_000);
    });

    it('places an imported answer after what precedes it', async () => {
      const { conversation } = await kit.say('question');
      await kit.say('answer', {}, { role: 'assistant', author: null });
      const [, answer] = await store.transcript.read(conversation.id, { fromSeq: 1, toSeq: 9, limit: 9 });
      expect(answer).toMatchObject({ role: 'assistant', turn: 1, author: null });
    });
  });
}
