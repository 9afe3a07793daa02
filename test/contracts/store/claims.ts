import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Conversation,
  type ConversationQuery,
  parseKey,
  placeOf,
  type Store,
  workspaceOf,
} from '../../../src/adapter-kit.ts';
import { HOUR_MS } from '../../../src/util/time/time.ts';
import { ABROAD, HERE, type Kit, type Lab, NOW, stored, THERE, THREAD } from '../store-kit.ts';

export function claimsContract(lab: Lab): void {
  describe('claims', () => {
    let store: Store;
    let kit: Kit;
    beforeEach(() => {
      ({ store, kit } = lab());
    });

    it('allows one live claim per work, with growing epochs', async () => {
      const { id } = await kit.ask();
      const reply = await store.conversations.claim({ work: 'reply', conversationId: id, now: NOW, leaseMs: 100 });
      const work = await store.conversations.claim({
        work: 'maintenance',
        conversationId: id,
        now: NOW,
        leaseMs: 100,
      });
      const first = { reply: reply?.claim.epoch ?? Number.NaN, maintenance: work?.claim.epoch ?? Number.NaN };
      expect(Object.values(first).map((epoch) => epoch > 0)).toEqual([true, true]);
      expect(work?.conversation).toMatchObject({ maintenanceEpoch: first.maintenance, maintenanceUntil: NOW + 100 });
      for (const kind of ['reply', 'maintenance'] as const) {
        const request = { work: kind, conversationId: id, leaseMs: 100 };
        expect(await store.conversations.claim({ ...request, now: NOW + 99 })).toBeNull();
        const second = await store.conversations.claim({ ...request, now: NOW + 100 });
        expect(second?.claim.epoch).toBeGreaterThan(first[kind]);
      }
    });

    it.each(['reply', 'maintenance'] as const)('frees a %s claim of a clock set back', async (work) => {
      const { id } = await kit.ask();
      const request = { work, conversationId: id, leaseMs: 100 };
      const won = await store.conversations.claim({ ...request, now: NOW + 3 * HOUR_MS });
      await store.conversations.change(id, { kind: 'maintain', at: NOW });
      expect(await store.conversations.due(work, { now: NOW, limit: 9 })).toHaveLength(1);
      const again = await store.conversations.claim({ ...request, now: NOW });
      expect(again?.claim.epoch).toBeGreaterThan(won?.claim.epoch ?? Number.NaN);
    });

    it('claims a reply after the clock was set back', async () => {
      const asked = { wantsReply: true, claimLeaseMs: 100 };
      const { claim } = await kit.say('before', { ...asked, now: NOW + 3 * HOUR_MS });
      const after = await kit.say('after', { ...asked, now: NOW });
      expect(after.claim?.epoch).toBeGreaterThan(claim?.epoch ?? Number.NaN);
    });

    it('forgets a pause that a clock set back would prolong', async () => {
      const { id } = await kit.ask();
      const request = { work: 'maintenance', conversationId: id, leaseMs: 100 } as const;
      const isDue = async (now: number) => (await store.conversations.due('maintenance', { now, limit: 9 })).length > 0;
      const won = await store.conversations.claim({ ...request, now: NOW + 24 * HOUR_MS });
      const outcome = { work: 'maintenance', kind: 'failed', error: 'HTTP 500' } as const;
      await store.conversations.change(id, { kind: 'maintain', at: NOW });
      if (won !== null) await store.conversations.release(won.claim, { ...outcome, nextAttemptAt: NOW + 25 * HOUR_MS });
      expect(await isDue(NOW + 24 * HOUR_MS)).toBe(false);
      expect(await store.conversations.claim({ ...request, now: NOW + 24 * HOUR_MS })).toBeNull();
      expect(await isDue(NOW)).toBe(true);
      expect(await store.conversations.claim({ ...request, now: NOW })).not.toBeNull();
    });

    it('gives one of many at once the claim', async () => {
      const { id } = await kit.fill(1);
      const tries = Array.from({ length: 20 }, () =>
        store.conversations.claim({ work: 'maintenance', conversationId: id, now: NOW, leaseMs: 100 }),
      );
      expect((await Promise.all(tries)).filter((claimed) => claimed !== null)).toHaveLength(1);
    });

    it('knows no claim to what does not exist', async () => {
      expect(await store.conversations.claim({ work: 'reply', conversationId: 99, now: NOW, leaseMs: 1 })).toBeNull();
      expect(await store.conversations.get(99)).toBeNull();
      expect(await store.conversations.find(HERE)).toBeNull();
      expect(await store.transcript.context(99, { maxEntries: 5 })).toBeNull();
    });

    it('gives a reply to nobody once it is given', async () => {
      const { id } = await kit.ask();
      const held = await kit.claim('reply', id);
      await kit.commitTurn(held);
      await kit.say('chatter');
      expect(await kit.tryClaim('reply', id)).toBeNull();
      expect(await kit.get(id)).toMatchObject({ replyUntil: null, replyEpoch: held.epoch });
      await kit.ask();
      expect((await kit.claim('reply', id)).epoch).toBeGreaterThan(held.epoch);
    });

    it('renews a live claim and reports a lost one', async () => {
      const { id } = await kit.ask();
      const held = await kit.claim('reply', id);
      expect(await store.conversations.renew('reply', held, NOW + 9_000)).toEqual({ ...held, until: NOW + 9_000 });
      expect(
        await store.conversations.claim({ work: 'reply', conversationId: id, now: NOW + 8_000, leaseMs: 1 }),
      ).toBeNull();
      await kit.claim('reply', id, NOW + 9_000);
      expect(await store.conversations.renew('reply', held, NOW + 20_000)).toBeNull();
      expect(await store.conversations.renew('maintenance', held, NOW + 20_000)).toBeNull();
    });

    it('keeps the debt when released without an answer', async () => {
      const { claim, conversation } = await kit.say('question', { wantsReply: true, claimLeaseMs: 500 });
      if (claim === null) throw new Error('no claim');
      await store.conversations.release(claim, { work: 'reply', answeredUpto: null });
      expect(await kit.get(conversation.id)).toMatchObject({ answeredUpto: 0, replyUntil: null });
      expect(await store.conversations.due('reply', { now: NOW, limit: 9 })).toHaveLength(1);
      const again = await kit.claim('reply', conversation.id);
      await store.conversations.release(again, { work: 'reply', answeredUpto: 1 });
      expect(await store.conversations.due('reply', { now: NOW, limit: 9 })).toEqual([]);
    });

    it('clears the due time after work that nothing has overtaken', async () => {
      const { id, nextSeq } = await kit.fill(1);
      const held = await kit.claim('maintenance', id);
      await store.conversations.release(held, {
        work: 'maintenance',
        kind: 'done',
        seenNextSeq: nextSeq,
        maintainAt: null,
      });
      expect(await kit.get(id)).toMatchObject({ maintainAt: null, maintenanceUntil: null, failures: 0 });
    });

    it('keeps the due time when something came during the work', async () => {
      const conversation = await kit.fill(2);
      const overtaken = [
        () => kit.fill(1),
        async () => kit.openGap(await kit.get(conversation.id), 1),
        () => store.conversations.change(conversation.id, { kind: 'maintain', at: NOW - 1 }),
      ];
      for (const come of overtaken) {
        const seenNextSeq = (await kit.get(conversation.id)).nextSeq;
        const held = await kit.claim('maintenance', conversation.id);
        await come();
        await store.conversations.release(held, { work: 'maintenance', kind: 'done', seenNextSeq, maintainAt: null });
        expect((await kit.get(conversation.id)).maintainAt).not.toBeNull();
      }
    });

    it('counts failures, waits for the next attempt, resets on success', async () => {
      const { id, nextSeq } = await kit.fill(1);
      await store.conversations.change(id, { kind: 'maintain', at: NOW });
      const held = await kit.claim('maintenance', id);
      const failure = { work: 'maintenance', kind: 'failed', error: 'it broke', nextAttemptAt: NOW + 50 } as const;
      await store.conversations.release(held, failure);
      expect(await kit.get(id)).toMatchObject({ failures: 1, nextAttemptAt: NOW + 50, lastError: 'it broke' });
      expect(
        await store.conversations.claim({ work: 'maintenance', conversationId: id, now: NOW + 49, leaseMs: 1 }),
      ).toBeNull();
      expect(await store.conversations.due('maintenance', { now: NOW + 49, limit: 9 })).toEqual([]);
      expect(await store.conversations.due('maintenance', { now: NOW + 50, limit: 9 })).toHaveLength(1);
      const again = await kit.claim('maintenance', id, NOW + 50);
      await store.conversations.release(again, {
        work: 'maintenance',
        kind: 'done',
        seenNextSeq: nextSeq,
        maintainAt: null,
      });
      expect(await kit.get(id)).toMatchObject({ failures: 0, nextAttemptAt: null, lastError: null });
    });

    it('ignores the release of a lost claim', async () => {
      const { id } = await kit.fill(1);
      const lost = await kit.claim('maintenance', id);
      const holder = await kit.claim('maintenance', id, NOW + 1_000);
      await store.conversations.release(lost, {
        work: 'maintenance',
        kind: 'failed',
        error: 'late',
        nextAttemptAt: NOW,
      });
      expect(await kit.get(id)).toMatchObject({ failures: 0, maintenanceUntil: holder.until });
    });

    it('lists what is due and unclaimed, oldest first', async () => {
      const here = await kit.fill(1, HERE);
      const there = await kit.fill(1, THERE);
      const abroad = await kit.fill(1, ABROAD);
      await store.conversations.change(here.id, { kind: 'maintain', at: NOW + 3 });
      await store.conversations.change(there.id, { kind: 'maintain', at: NOW + 1 });
      const dueAt = async (now: number, limit = 9) =>
        (await store.conversations.due('maintenance', { now, limit })).map((item) => item.id);
      expect(await dueAt(NOW + 2)).toEqual([there.id]);
      expect(await dueAt(NOW + 60_000)).toEqual([there.id, here.id, abroad.id]);
      expect(await dueAt(NOW + 60_000, 1)).toEqual([there.id]);
      await kit.claim('maintenance', there.id);
      expect(await dueAt(NOW + 3)).toEqual([here.id]);
      expect(await dueAt(NOW + 1_000)).toEqual([there.id, here.id]);
    });

    it('lists owed replies that nobody works on', async () => {
      const first = await kit.say('q', { wantsReply: true, now: NOW });
      const second = await kit.say('q', { wantsReply: true, conversation: THERE, now: NOW - 5 });
      await kit.say('chatter', { conversation: ABROAD });
      const due = async (now: number) =>
        (await store.conversations.due('reply', { now, limit: 9 })).map((item) => item.id);
      expect(await due(NOW)).toEqual([second.conversation.id, first.conversation.id]);
      await kit.claim('reply', second.conversation.id);
      expect(await due(NOW)).toEqual([first.conversation.id]);
      expect(await due(NOW + 1_000)).toHaveLength(2);
      const { platform } = parseKey(THERE);
      const of = async (name: string, limit: number) =>
        (await store.conversations.due('reply', { now: NOW + 1_000, limit, platform: name })).map(({ id }) => id);
      expect(await of(platform, 1)).toEqual([second.conversation.id]);
      expect(await of(platform.slice(0, -1), 9)).toEqual([]);
    });

    it('lists conversations, the newest activity first, by pages', async () => {
      await kit.say('a', { conversation: HERE, now: NOW });
      await kit.say('b', { conversation: THERE, now: NOW + 2 });
      await kit.say('c', { conversation: ABROAD, now: NOW + 1 });
      const page = (after: Conversation | null) => store.conversations.list({ order: 'active', limit: 2, after });
      const first = await page(null);
      expect(first.map(({ key }) => key)).toEqual([THERE, ABROAD]);
      expect((await page(first.at(-1) ?? null)).map(({ key }) => key)).toEqual([HERE]);
    });

    it('lists them by key, newest message and place, in pages', async () => {
      await kit.say('a', { conversation: HERE }, { at: NOW });
      await kit.say('b', { conversation: THERE }, { at: NOW + 1 });
      await kit.say('c', { conversation: ABROAD }, { at: NOW + 1 });
      const keys = async (query: ConversationQuery) => {
        const found = [];
        for (let after: Conversation | null = null; ; ) {
          const [next]: readonly Conversation[] = await store.conversations.list({ ...query, limit: 1, after });
          if (next === undefined) return found;
          found.push(next.key);
          after = next;
        }
      };
      const everywhere = { within: null };
      expect(await keys({ order: 'key', scope: everywhere })).toEqual([HERE, THERE, ABROAD].toSorted());
      expect(await keys({ order: 'heard', scope: everywhere })).toEqual([ABROAD, THERE, HERE]);
      const newest = await store.conversations.list({ order: 'heard', scope: everywhere, limit: 1, after: null });
      await kit.say('d', { conversation: THREAD }, { at: NOW });
      const rest = { order: 'heard', scope: everywhere, limit: 2, after: newest[0] ?? null } as const;
      expect((await store.conversations.list(rest)).map(({ key }) => key)).toEqual([THERE, THREAD]);
      expect(await keys({ order: 'heard', scope: { within: workspaceOf(HERE) } })).not.toContain(ABROAD);
      expect(await keys({ order: 'key', scope: { place: placeOf(HERE) } })).toContain(HERE);
      expect(await keys({ order: 'key', scope: { place: placeOf(ABROAD) } })).toEqual([ABROAD]);
    });

    it('hears only messages of the platform, not imported ones', async () => {
      const imported = { isImported: true, message: { externalId: 'line 1', at: NOW + 9 } } as const;
      expect(stored(await kit.append(imported)).conversation.heard).toBeNull();
      await kit.append({ message: { externalId: 'x1', at: NOW - 5 } });
      const after = stored(await kit.append({ ...imported, message: { externalId: 'line 2', at: NOW + 9 } }));
      expect(after.conversation.heard).toEqual({ externalId: 'x1', at: NOW - 5 });
    });

    it('knows the newest message of a person', async () => {
      const { conversation } = await kit.say('a', {}, { externalId: 'x1', at: NOW - 5 });
      await kit.say('imported', {}, { externalId: null });
      await kit.say('of the bot', {}, { externalId: 'x2', role: 'assistant', author: null });
      expect(conversation.heard).toEqual({ externalId: 'x1', at: NOW - 5 });
      expect((await kit.get(conversation.id)).heard).toEqual(conversation.heard);
    });
  });
}
