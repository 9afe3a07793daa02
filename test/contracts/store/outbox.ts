import { beforeEach, describe, expect, it } from 'vitest';
import { makeKey, POST_HOLD_MS, parseKey, type Store } from '../../../src/adapter-kit.ts';
import { HERE, type Kit, type Lab, NOW, post, THERE } from '../store-kit.ts';

export function outboxContract(lab: Lab): void {
  describe('outbox', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('lists unsent posts in order, counts attempts, ends them', async () => {
      const { claim, conversation } = await kit.say('q', { wantsReply: true, claimLeaseMs: 9 });
      const other = await kit.say('q', { wantsReply: true, claimLeaseMs: 9, conversation: THERE });
      if (claim === null || other.claim === null) throw new Error('no claim');
      await kit.commitTurn(claim, { posts: [post('a'), post('b', 1), post('c', 2)] });
      await kit.commitTurn(other.claim, { posts: [post('d')] });
      const texts = async (id: number | null) =>
        (await store.outbox.pending(id)).map((row) => (row.body.kind === 'text' ? row.body.text : row.body.name));
      expect(await texts(null)).toEqual(['a', 'b', 'c', 'd']);
      expect(await texts(conversation.id)).toEqual(['a', 'b', 'c']);
      const [a, b] = await store.outbox.pending(conversation.id);
      await store.outbox.attempt(a?.id ?? 0, null);
      await store.outbox.attempt(a?.id ?? 0, 'the platform is away');
      expect((await store.outbox.pending(conversation.id))[0]).toMatchObject({
        attempts: 2,
        reason: 'the platform is away',
        nonce: 'nonce a 0',
        turn: 1,
      });
      await store.outbox.sent(a?.id ?? 0, 'p1');
      await store.outbox.failed(b?.id ?? 0, 'refused');
      expect(await texts(conversation.id)).toEqual(['c']);
    });

    it('hands abandoned posts to one taker', async () => {
      const { claim } = await kit.say('q', { wantsReply: true, claimLeaseMs: 9 });
      const other = await kit.say('q', { wantsReply: true, claimLeaseMs: 9, conversation: THERE });
      if (claim === null || other.claim === null) throw new Error('no claim');
      await kit.commitTurn(claim, { posts: [post('a'), post('b', 1)], now: NOW });
      await kit.commitTurn(other.claim, { posts: [post('c')], now: NOW });
      const { platform } = parseKey(HERE);
      const take = async (now: number) =>
        (await store.outbox.take({ platform, now, limit: 10 })).map((row) => row.nonce);
      expect(await take(NOW + POST_HOLD_MS - 1)).toEqual([]);
      await store.outbox.hold([other.claim.conversationId], NOW + 1);
      const both = await Promise.all([take(NOW + POST_HOLD_MS), take(NOW + POST_HOLD_MS)]);
      expect(both.flat()).toEqual(['nonce a 0', 'nonce b 1']);
      expect(await store.outbox.take({ platform: 'elsewhere', now: NOW + 9 * POST_HOLD_MS, limit: 10 })).toEqual([]);
      expect(await take(NOW + POST_HOLD_MS + 1)).toEqual(['nonce c 0']);
      expect(await take(NOW + 3 * POST_HOLD_MS)).toEqual(['nonce a 0', 'nonce b 1', 'nonce c 0']);
      // The clock was set back by hours.
      expect(await take(NOW - 4_000 * POST_HOLD_MS)).toEqual(['nonce a 0', 'nonce b 1', 'nonce c 0']);
    });

    it('hands out the oldest free posts of all conversations first', async () => {
      const third = makeKey({ ...parseKey(HERE), channel: 'third' });
      const rounds = Array.from({ length: 4 }, (_, round) => [third, THERE, HERE].map((key) => ({ key, round })));
      for (const { key, round } of rounds.flat()) {
        const { claim } = await kit.say('q', { wantsReply: true, claimLeaseMs: 9, conversation: key });
        if (claim === null) throw new Error('no claim');
        const posts = Array.from({ length: 3 }, (_, chunk) => post(`${key} ${round}`, chunk));
        await kit.commitTurn(claim, { posts, now: NOW });
      }
      const pending = await store.outbox.pending(null);
      const held = pending.find(({ nonce }) => nonce.includes(THERE))?.conversationId ?? 0;
      // A post that was tried before stays in its place.
      for (const { id } of pending.filter((_, index) => index % 5 === 0)) await store.outbox.attempt(id, 'away');
      await store.outbox.hold([held], NOW + POST_HOLD_MS);
      const { platform } = parseKey(HERE);
      const take = async (now: number, limit: number) =>
        (await store.outbox.take({ platform, now, limit })).map(({ id }) => id);
      const all = pending.map(({ id }) => id);
      const free = pending.flatMap(({ id, conversationId }) => (conversationId === held ? [] : [id]));
      expect(all).toEqual(all.toSorted((a, b) => a - b));
      expect(await take(NOW + POST_HOLD_MS, 20)).toEqual(free.slice(0, 20));
      expect(await take(NOW + POST_HOLD_MS, 20)).toEqual(free.slice(20));
      expect(await take(NOW + 3 * POST_HOLD_MS, 99)).toEqual(all);
    });
  });
}
