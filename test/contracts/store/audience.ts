import { beforeEach, describe, expect, it } from 'vitest';
import type { Audience, Store } from '../../../src/adapter-kit.ts';
import { type Kit, type Lab, NOW, post, READER, THREAD } from '../store-kit.ts';

const changeTo = (audience: Audience) => ({ kind: 'audience', audience, now: 1000 }) as const;

export function audienceContract(lab: Lab): void {
  describe('audience', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('only tightens, with the place’s memories and threads', async () => {
      const here = await kit.fill(1);
      const thread = await kit.fill(1, THREAD);
      await kit.save(here.id, kit.inserting('tea', [1]));
      await store.conversations.change(here.id, changeTo('private'));
      expect((await kit.get(here.id)).audience).toBe('private');
      expect((await kit.get(thread.id)).audience).toBe('private');
      expect(
        (await store.memories.list({ reader: { ...READER, audience: 'dm' }, limit: 9, offset: 0 }))[0]?.audience,
      ).toBe('private');
      await store.conversations.change(here.id, changeTo('public'));
      expect(await kit.get(here.id)).toMatchObject({ audience: 'public', tightestAudience: 'private' });
    });

    it('saves nothing looser than the place is now', async () => {
      const { id } = await kit.fill(1);
      const decided = kit.inserting('tea', [1], { audience: 'public' });
      await store.conversations.change(id, changeTo('private'));
      await kit.save(id, decided);
      expect(await kit.recallable()).toEqual([]);
      expect(await kit.recallable({ audience: 'private' })).toEqual(['tea']);
    });

    it('tightens with a message from a more private place', async () => {
      const here = await kit.fill(1);
      await kit.save(here.id, kit.inserting('tea', [1]));
      const { conversation } = await kit.say('psst', { audience: 'private' });
      expect(conversation.audience).toBe('private');
      expect(await kit.recallable()).toEqual([]);
      expect(await kit.recallable({ audience: 'private' })).toEqual(['tea']);
      expect((await kit.say('loud', { audience: 'public' })).conversation).toMatchObject({
        audience: 'public',
        tightestAudience: 'private',
      });
    });

    it('withdraws replies that wait when the place opens', async () => {
      const asking = { audience: 'private', wantsReply: true, claimLeaseMs: 9 } as const;
      const { claim, conversation } = await kit.say('q', asking);
      if (claim === null) throw new Error('no claim');
      await kit.commitTurn(claim, { posts: [post('answer')] });
      await kit.say('q2', { ...asking, claimLeaseMs: null });
      const message = { role: 'assistant', author: null } as const;
      const rows = [{ ...post('news'), unaskedAt: NOW }];
      await kit.say('news', { audience: 'private', posts: { rows, heldUntil: NOW } }, message);
      await kit.say('hello', { audience: 'public' });
      const pending = await store.outbox.pending(conversation.id);
      expect(pending).toMatchObject([{ body: { text: 'news' } }]);
      expect(await kit.get(conversation.id)).toMatchObject({ answeredUpto: 0, replyDueFrom: 1, replyDueSeq: 3 });
    });

    it('knows since which message it is as it is', async () => {
      await kit.fill(1);
      const froms = [];
      for (const audience of ['public', 'private', 'private', 'public', 'public'] as const) {
        froms.push((await kit.say('hello', { audience })).conversation.audienceFrom);
      }
      const [first = 0, second = 0] = froms;
      expect([first < second, froms.slice(1)]).toEqual([true, [second, second, second + 2, second + 2]]);
    });
  });
}
