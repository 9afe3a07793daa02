import { beforeEach, describe, expect, it } from 'vitest';
import { POST_HOLD_MS, parseKey, type Store } from '../../../src/adapter-kit.ts';
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
  });
}
