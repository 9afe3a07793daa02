import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BlobId,
  type Conversation,
  type ConversationQuery,
  type MaintenanceRun,
  type MemoryId,
  POST_HOLD_MS,
  parseKey,
  placeOf,
  type Storage,
  type Store,
  type SummaryId,
  workspaceOf,
} from '../../src/adapter-kit.ts';
import { ABROAD, createKit, HERE, type Kit, NOW, post, READER, stored, THERE, THREAD, textParts } from './store-kit.ts';
import { storeProperties } from './store-properties.ts';

export interface StorageUnderTest {
  readonly storage: Storage;
  /** Frees what the factory made. The store may be closed already. */
  dispose(): Promise<void>;
}

export interface StoreContractOptions {
  /** Every instance is empty and sees no other's data. */
  create(): Promise<StorageUnderTest>;
}

/** What every engine owes. */
export function storeContract(name: string, options: StoreContractOptions): void {
  describe(`store contract: ${name}`, () => {
    let made: StorageUnderTest;
    let store: Store;
    let kit: Kit;

    beforeEach(async () => {
      made = await options.create();
      store = made.storage.store;
      kit = createKit(made.storage);
    });
    afterEach(() => made.dispose());

    describe('append', () => {
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

      it('keeps everything about a message', async () => {
        const parts = [
          { kind: 'text', text: 'look 東京 🙂' },
          { kind: 'attachment', name: 'a.png', mediaType: 'image/png', sizeBytes: 12, reference: 'https://x/a.png' },
        ] as const;
        const mentions = [{ id: 'u2', name: 'Bob', kind: 'person' }] as const;
        const message = { externalId: 'x1', parts, mentions, replyTo: 'x0', tokens: 9, at: NOW - 5 };
        const { conversation } = stored(await kit.append({ message }));
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
          },
        ]);
      });

      it('recognises a redelivery and changes neither claim nor debt', async () => {
        const first = await kit.say('one', {}, { externalId: 'x1' });
        const again = await kit.append({ wantsReply: true, claimLeaseMs: 500, message: { externalId: 'x1' } });
        expect(again).toMatchObject({ kind: 'duplicate', seq: 1 });
        expect(await kit.get(first.conversation.id)).toEqual(first.conversation);
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
        expect(first.claim).toEqual({ conversationId: first.conversation.id, epoch: 1, until: NOW + 500 });
        expect(first.conversation).toMatchObject({ replyDueSeq: 2, replyDueFrom: 2, answeredUpto: 0 });
        const second = await kit.say('asked again', over);
        expect(second.claim).toBeNull();
        expect(second.conversation).toMatchObject({ replyDueSeq: 3, replyDueFrom: 2, replyEpoch: 1 });
        const later = await kit.say('and again', { ...over, now: NOW + 500 });
        expect(later.claim?.epoch).toBe(2);
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

    describe('a turn', () => {
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
          usage: [
            {
              purpose: 'reply',
              model: 'm',
              at: NOW,
              inputTokens: 8,
              outputTokens: 2,
              cacheReadTokens: 1,
              cacheWriteTokens: 0,
            },
          ],
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
        expect(await store.transcript.read(conversation.id, { fromSeq: 3, toSeq: 5, limit: 9 })).toEqual(
          result.entries,
        );
        expect(await store.outbox.pending(conversation.id)).toEqual(result.posts);
        expect(await store.journal.usage(conversation.id)).toMatchObject([
          { purpose: 'reply', calls: 1, inputTokens: 8 },
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
        const third = await kit.claim('reply', conversation.id);
        await store.conversations.release(third, { work: 'reply', answeredUpto: null });
        expect(await kit.commitTurn(third)).toEqual({ kind: 'stale' });
        expect((await kit.get(conversation.id)).nextSeq).toBe(3);
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

      it('opens a new debt where the next question stands', async () => {
        const { claim } = await asked();
        if (claim === null) throw new Error('no claim');
        await kit.say('chatter');
        await kit.commitTurn(claim, { readUpto: 2 });
        const next = await kit.say('next question', { wantsReply: true });
        expect(next.conversation).toMatchObject({ replyDueSeq: 4, replyDueFrom: 4, answeredUpto: 2 });
      });
    });

    describe('claims', () => {
      it('allows one live claim per work, with growing epochs', async () => {
        const { id } = await kit.fill(1);
        const reply = await store.conversations.claim({ work: 'reply', conversationId: id, now: NOW, leaseMs: 100 });
        const work = await store.conversations.claim({
          work: 'maintenance',
          conversationId: id,
          now: NOW,
          leaseMs: 100,
        });
        expect([reply?.claim.epoch, work?.claim.epoch]).toEqual([1, 1]);
        expect(work?.conversation).toMatchObject({ maintenanceEpoch: 1, maintenanceUntil: NOW + 100 });
        for (const kind of ['reply', 'maintenance'] as const) {
          const request = { work: kind, conversationId: id, leaseMs: 100 };
          expect(await store.conversations.claim({ ...request, now: NOW + 99 })).toBeNull();
          expect((await store.conversations.claim({ ...request, now: NOW + 100 }))?.claim.epoch).toBe(2);
        }
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

      it('renews a live claim and reports a lost one', async () => {
        const { id } = await kit.fill(1);
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
        expect(await keys({ order: 'heard', scope: { within: workspaceOf(HERE) } })).not.toContain(ABROAD);
        expect(await keys({ order: 'key', scope: { place: placeOf(HERE) } })).toContain(HERE);
        expect(await keys({ order: 'key', scope: { place: placeOf(ABROAD) } })).toEqual([ABROAD]);
      });

      it('knows what a person said last there', async () => {
        const { conversation } = await kit.say('a', {}, { externalId: 'x1', at: NOW - 5 });
        await kit.say('imported', {}, { externalId: null });
        await kit.say('of the bot', {}, { externalId: 'x2', role: 'assistant', author: null });
        expect(conversation.heard).toEqual({ externalId: 'x1', at: NOW - 5 });
        expect((await kit.get(conversation.id)).heard).toEqual(conversation.heard);
      });
    });

    describe('reading', () => {
      it('reads state, stack and newest tail in one snapshot', async () => {
        const { id } = await kit.fill(9);
        await kit.compact(await kit.claim('maintenance', id), kit.summary(1, 3));
        const whole = await store.transcript.context(id, { maxEntries: 100 });
        expect(whole?.stack.map((item) => [item.fromSeq, item.toSeq])).toEqual([[1, 3]]);
        expect(whole?.tail.map((entry) => entry.seq)).toEqual([4, 5, 6, 7, 8, 9]);
        expect(whole?.omitted).toEqual({ entries: 0, tokens: 0 });
        const cut = await store.transcript.context(id, { maxEntries: 2 });
        expect(cut?.tail.map((entry) => entry.seq)).toEqual([8, 9]);
        expect(cut?.omitted).toEqual({ entries: 4, tokens: 12 });
        expect(cut?.conversation).toEqual(await kit.get(id));
      });

      // Shows: Q23
      it('reads a range up to the limit and single entries', async () => {
        const { id } = await kit.fill(6);
        const seqs = async (fromSeq: number, toSeq: number, limit: number) =>
          (await store.transcript.read(id, { fromSeq, toSeq, limit })).map((entry) => entry.seq);
        expect(await seqs(2, 5, 9)).toEqual([2, 3, 4, 5]);
        expect(await seqs(2, 5, 2)).toEqual([2, 3]);
        expect(await seqs(7, 9, 9)).toEqual([]);
        expect((await store.transcript.pick(id, [5, 2, 99, 2])).map((entry) => entry.seq)).toEqual([2, 5]);
        expect(await store.transcript.pick(id, [])).toEqual([]);
      });

      it('finds a person’s message and the reply behind a post', async () => {
        const { claim, conversation } = await kit.say('q', { wantsReply: true, claimLeaseMs: 9 }, { externalId: 'x1' });
        if (claim === null) throw new Error('no claim');
        const turn = await kit.commitTurn(claim, { posts: [post('a'), post('b', 1)] });
        if (turn.kind !== 'committed') throw new Error('stale');
        for (const row of turn.posts) await store.outbox.sent(row.id, `posted ${row.chunk}`);
        expect((await store.transcript.byExternalId(conversation.id, 'x1'))?.seq).toBe(1);
        expect((await store.transcript.byExternalId(conversation.id, 'posted 1'))?.seq).toBe(2);
        expect(await store.transcript.byExternalId(conversation.id, 'unknown')).toBeNull();
        const there = await kit.fill(1, THERE);
        expect(await store.transcript.byExternalId(there.id, 'x1')).toBeNull();
        expect(await store.transcript.byExternalId(there.id, 'posted 1')).toBeNull();
      });
    });

    describe('compaction', () => {
      it('moves pointer, stack, memories and watermark in one step', async () => {
        const { id, revision } = await kit.fill(8);
        const held = await kit.claim('maintenance', id);
        const first = kit.summary(1, 3);
        const over = { memories: [kit.inserting('tea', [1, 2])], extracted: { from: 0, upto: 3 } };
        expect(await kit.compact(held, first, over)).toBe('committed');
        expect(await kit.compact(held, kit.summary(4, 5))).toBe('committed');
        expect(await kit.stack(id)).toEqual(['L0 1-3', 'L0 4-5']);
        const conversation = await kit.get(id);
        expect(conversation).toMatchObject({ compactedUpto: 5, extractedUpto: 3, contextFrom: 1 });
        expect(conversation.revision).toBeGreaterThan(revision);
        expect(await kit.recallable()).toEqual(['tea']);
        expect(await store.summaries.find(first.id)).toEqual({
          ...first,
          conversationId: id,
          kind: 'summary',
          stale: false,
          supersededBy: null,
        });
        expect(await store.summaries.children(first.id)).toEqual([]);
        expect(await store.summaries.find('nothing' as SummaryId)).toBeNull();
      });

      // Shows: R3, W25
      it('stores nothing of a late, duplicate or stale result', async () => {
        const { id } = await kit.fill(8);
        const held = await kit.claim('maintenance', id);
        expect(await kit.compact(held, kit.summary(1, 3))).toBe('committed');
        const memories = [kit.inserting('tea', [1])];
        const late = [
          kit.compact(held, kit.summary(1, 3), { memories }),
          kit.compact(held, kit.summary(2, 5), { memories }),
          kit.compact(held, kit.summary(5, 6), { memories }),
          kit.compact(held, kit.summary(4, 9), { memories }),
          kit.compact(held, kit.summary(4, 3), { memories }),
          kit.compact({ ...held, epoch: held.epoch - 1 }, kit.summary(4, 5), { memories }),
          kit.compact(held, kit.summary(4, 5), { memories, extracted: { from: 1, upto: 5 } }),
        ];
        expect(await Promise.all(late)).toEqual(late.map(() => 'stale'));
        expect(await kit.stack(id)).toEqual(['L0 1-3']);
        expect(await kit.recallable()).toEqual([]);
        await store.conversations.release(held, {
          work: 'maintenance',
          kind: 'done',
          seenNextSeq: 9,
          maintainAt: null,
        });
        expect(await kit.compact(held, kit.summary(4, 5), { memories })).toBe('stale');
      });

      it('opens a gap without a claim, only at the end', async () => {
        const conversation = await kit.fill(8);
        expect(await kit.openGap(conversation, 3)).toBe('committed');
        expect(await kit.openGap(conversation, 5)).toBe('stale');
        const moved = await kit.get(conversation.id);
        expect(moved).toMatchObject({ compactedUpto: 3, maintainAt: NOW });
        expect(await kit.openGap(moved, 9)).toBe('stale');
        expect(await kit.openGap(moved, 3)).toBe('stale');
        expect(await kit.openGap(moved, 5)).toBe('committed');
        expect(await kit.stack(conversation.id)).toEqual(['gap 1-3', 'gap 4-5']);
      });

      it('fills the head of a gap, then the rest', async () => {
        const conversation = await kit.fill(8);
        await kit.openGap(conversation, 6);
        const held = await kit.claim('maintenance', conversation.id);
        expect(await kit.compact(held, kit.summary(1, 2))).toBe('committed');
        expect(await kit.stack(conversation.id)).toEqual(['L0 1-2', 'gap 3-6']);
        expect(await kit.compact(held, kit.summary(4, 6))).toBe('stale');
        expect(await kit.compact(held, kit.summary(3, 6))).toBe('committed');
        expect(await kit.stack(conversation.id)).toEqual(['L0 1-2', 'L0 3-6']);
        expect((await kit.get(conversation.id)).compactedUpto).toBe(6);
      });

      it('takes a result that an emergency overtook, beyond gaps too', async () => {
        const conversation = await kit.fill(9);
        const held = await kit.claim('maintenance', conversation.id);
        await kit.openGap(conversation, 3);
        await kit.openGap(await kit.get(conversation.id), 4);
        expect(await kit.compact(held, kit.summary(1, 6))).toBe('committed');
        expect(await kit.stack(conversation.id)).toEqual(['L0 1-6']);
        expect((await kit.get(conversation.id)).compactedUpto).toBe(6);
      });

      it('takes a result that ends within a gap', async () => {
        const conversation = await kit.fill(9);
        await kit.openGap(conversation, 3);
        await kit.openGap(await kit.get(conversation.id), 7);
        const held = await kit.claim('maintenance', conversation.id);
        expect(await kit.compact(held, kit.summary(1, 5))).toBe('committed');
        expect(await kit.stack(conversation.id)).toEqual(['L0 1-5', 'gap 6-7']);
      });

      it('condenses neighbours that all still stand', async () => {
        const { id } = await kit.fill(9);
        const held = await kit.claim('maintenance', id);
        const parts = [kit.summary(1, 2), kit.summary(3, 4), kit.summary(5, 6)];
        for (const part of parts) await kit.compact(held, part);
        const [a, b, c] = parts.map((part) => part.id);
        if (!a || !b || !c) throw new Error('three');
        const upper = kit.summary(1, 4, { level: 1 });
        expect(await kit.condense({ ...held, epoch: 0 }, upper, [a, b])).toBe('stale');
        expect(await kit.condense(held, upper, [a, c])).toBe('stale');
        expect(await kit.condense(held, upper, [a, 'gone' as SummaryId])).toBe('stale');
        expect(await kit.condense(held, kit.summary(1, 5, { level: 1 }), [a, b])).toBe('stale');
        expect(await kit.condense(held, upper, [a, b])).toBe('committed');
        expect(await kit.condense(held, kit.summary(1, 4, { level: 1 }), [a, b])).toBe('stale');
        expect(await kit.stack(id)).toEqual(['L1 1-4', 'L0 5-6']);
        expect((await store.summaries.children(upper.id)).map((child) => [child.id, child.supersededBy])).toEqual([
          [a, upper.id],
          [b, upper.id],
        ]);
      });

      it('never condenses a gap or a stale summary', async () => {
        const conversation = await kit.fill(9);
        const held = await kit.claim('maintenance', conversation.id);
        const good = kit.summary(1, 2);
        await kit.compact(held, good);
        await kit.openGap(await kit.get(conversation.id), 4);
        const [, gap] = await store.summaries.live(conversation.id);
        if (!gap) throw new Error('no gap');
        expect(await kit.condense(held, kit.summary(1, 4, { level: 1 }), [good.id, gap.id])).toBe('stale');
      });

      it.each(['edit', 'redact'] as const)('condenses nothing that is outdated: %s', async (change) => {
        const { id } = await kit.fill(4);
        await kit.say('before', {}, { externalId: 'outdated' });
        await kit.fill(3);
        const held = await kit.claim('maintenance', id);
        const parts = [kit.summary(1, 6), kit.summary(7, 8)];
        for (const part of parts) expect(await kit.compact(held, part)).toBe('committed');
        const edited = { externalId: 'outdated', parts: textParts('after'), tokens: 2, now: NOW };
        if (change === 'edit') expect(await store.transcript.edit(id, edited)).toBe(true);
        else await store.transcript.redact(id, { externalIds: ['outdated'], now: NOW });
        const ids = parts.map((part) => part.id);
        expect(await kit.condense(held, kit.summary(1, 8, { level: 1 }), ids)).toBe('stale');
      });

      it('extracts an idle tail once', async () => {
        const { id } = await kit.fill(4);
        const held = await kit.claim('maintenance', id);
        const commit = { conversationId: id, epoch: held.epoch, now: NOW };
        const first = { ...commit, memories: [kit.inserting('tea', [2])], extracted: { from: 0, upto: 4 } };
        expect(await store.summaries.commitExtraction(first)).toBe('committed');
        const second = { ...commit, memories: [kit.inserting('rice', [2])], extracted: { from: 0, upto: 4 } };
        expect(await store.summaries.commitExtraction(second)).toBe('stale');
        const beyond = { ...second, extracted: { from: 4, upto: 5 } };
        expect(await store.summaries.commitExtraction(beyond)).toBe('stale');
        expect(await store.summaries.commitExtraction({ ...second, epoch: 9, extracted: { from: 4, upto: 4 } })).toBe(
          'stale',
        );
        expect(await kit.recallable()).toEqual(['tea']);
        expect(await kit.get(id)).toMatchObject({ extractedUpto: 4, compactedUpto: 0 });
      });

      it('takes no summary of entries changed after their read', async () => {
        const { id } = await kit.fill(4);
        await kit.say('secret', {}, { externalId: 'x5' });
        await kit.fill(3);
        const held = await kit.claim('maintenance', id);
        const seenRevision = (await kit.get(id)).revision;
        await store.transcript.redact(id, { externalIds: ['x5'], now: NOW });
        expect(await kit.compact(held, kit.summary(1, 6))).toBe('stale');
        expect(await kit.compact(held, kit.summary(1, 6), { seenRevision })).toBe('stale');
        const extraction = {
          conversationId: id,
          epoch: held.epoch,
          memories: [],
          extracted: { from: 0, upto: 6 },
          now: NOW,
        };
        expect(await store.summaries.commitExtraction(extraction)).toBe('stale');
        expect(await kit.compact(held, kit.summary(1, 4), { seenRevision })).toBe('committed');
        const readAgain = (await kit.get(id)).revision;
        expect(await kit.compact(held, kit.summary(5, 6), { seenRevision: readAgain })).toBe('committed');
      });
    });

    describe('reset', () => {
      it('restarts the view, keeps the archive, invalidates running work', async () => {
        const { id } = await kit.fill(6);
        const maintenance = await kit.claim('maintenance', id);
        await kit.compact(maintenance, kit.summary(1, 3));
        const asked = await kit.say('question', { wantsReply: true, claimLeaseMs: 500 });
        await store.conversations.change(id, { kind: 'reset', now: NOW });
        expect(await kit.get(id)).toMatchObject({ contextFrom: 8, compactedUpto: 7, nextSeq: 8 });
        expect(await kit.stack(id)).toEqual([]);
        expect((await store.transcript.context(id, { maxEntries: 9 }))?.tail).toEqual([]);
        expect(await store.transcript.read(id, { fromSeq: 1, toSeq: 9, limit: 9 })).toHaveLength(7);
        expect(await kit.compact(maintenance, kit.summary(4, 6))).toBe('stale');
        if (asked.claim === null) throw new Error('no claim');
        expect(await kit.commitTurn(asked.claim)).toEqual({ kind: 'stale' });
        expect(await store.conversations.due('reply', { now: NOW + 9_000, limit: 9 })).toEqual([]);
        await kit.fill(2);
        const held = await kit.claim('maintenance', id);
        expect(await kit.compact(held, kit.summary(7, 8))).toBe('stale');
        expect(await kit.compact(held, kit.summary(8, 8))).toBe('committed');
        expect(await kit.stack(id)).toEqual(['L0 8-8']);
      });
    });

    describe('editing', () => {
      it('replaces the text and says when', async () => {
        const { conversation } = await kit.say('before', {}, { externalId: 'x1' });
        const edit = { externalId: 'x1', parts: textParts('after'), tokens: 7, now: NOW + 5 };
        expect(await store.transcript.edit(conversation.id, edit)).toBe(true);
        const entry = await store.transcript.byExternalId(conversation.id, 'x1');
        expect(entry).toMatchObject({ parts: textParts('after'), tokens: 7, editedAt: NOW + 5, seq: 1 });
        expect((await kit.get(conversation.id)).revision).toBe(conversation.revision + 1);
        expect(await store.transcript.edit(conversation.id, { ...edit, externalId: 'x2' })).toBe(false);
      });

      it('leaves an edit that changes nothing without effect', async () => {
        const { conversation } = await kit.say('same', {}, { externalId: 'x1' });
        const edit = { externalId: 'x1', parts: textParts('same'), tokens: 3, now: NOW + 5 };
        expect(await store.transcript.edit(conversation.id, edit)).toBe(true);
        expect(await kit.get(conversation.id)).toEqual(conversation);
      });

      it('marks the summary stale and drops memories resting on it', async () => {
        const { id } = await kit.fill(2);
        await kit.say('old', {}, { externalId: 'x3' });
        await kit.fill(3);
        const held = await kit.claim('maintenance', id);
        const memories = [kit.inserting('alone', [3]), kit.inserting('shared', [2, 3])];
        await kit.compact(held, kit.summary(1, 2));
        await kit.compact(held, kit.summary(3, 5), { memories });
        await store.transcript.edit(id, { externalId: 'x3', parts: textParts('new'), tokens: 2, now: NOW });
        expect(await kit.stack(id)).toEqual(['L0 1-2', 'L0 3-5!']);
        expect(await kit.recallable()).toEqual(['shared']);
        expect((await kit.get(id)).maintainAt).toBe(NOW);
        const revision = (await kit.get(id)).revision;
        const rewritten = kit.summary(3, 5, { text: 'written anew' });
        expect(await kit.compact(held, rewritten, { seenRevision: revision })).toBe('committed');
        expect(await kit.stack(id)).toEqual(['L0 1-2', 'L0 3-5']);
      });

      it('dissolves a condensed summary down to the touched part', async () => {
        const { id, parts, held } = await condensed(kit);
        await store.transcript.edit(id, { externalId: 'x3', parts: textParts('new'), tokens: 2, now: NOW });
        expect(await kit.stack(id)).toEqual(['L0 1-2', 'L0 3-4!', 'L1 5-8']);
        expect((await store.summaries.find(parts[0] as SummaryId))?.supersededBy).toBeNull();
        expect(held.epoch).toBe((await kit.get(id)).maintenanceEpoch);
      });

      it('does not bring back what was deleted', async () => {
        const { conversation } = await kit.say('gone', {}, { externalId: 'x1' });
        await store.transcript.redact(conversation.id, { externalIds: ['x1'], now: NOW });
        const edit = { externalId: 'x1', parts: textParts('back'), tokens: 3, now: NOW };
        expect(await store.transcript.edit(conversation.id, edit)).toBe(false);
      });
    });

    describe('redaction', () => {
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

      it('erases superseded versions too', async () => {
        const { id } = await kit.fill(2);
        await kit.say('secret', {}, { externalId: 'x3' });
        const held = await kit.claim('maintenance', id);
        const old = kit.summary(1, 3);
        await kit.compact(held, old);
        await store.transcript.edit(id, { externalId: 'x3', parts: textParts('still secret'), tokens: 2, now: NOW });
        const { revision } = await kit.get(id);
        await kit.compact(held, kit.summary(1, 3), { seenRevision: revision });
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

      it('expires entries by age, with what was derived from them', async () => {
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

    describe('purge', () => {
      it('takes a place’s memories with its last conversation', async () => {
        const { id } = await kit.fill(1);
        const thread = await kit.fill(1, THREAD);
        await kit.save(null, kit.inserting('by command', []), kit.inserting('there', [], { place: THERE }));
        await store.conversations.change(thread.id, { kind: 'purge' });
        expect((await kit.recallable({ sharePublic: true })).toSorted()).toEqual(['by command', 'there']);
        await store.conversations.change(id, { kind: 'purge' });
        expect(await kit.recallable({ sharePublic: true })).toEqual(['there']);
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
        const anew = await kit.say('hello again');
        expect(anew.seq).toBe(1);
        expect(anew.conversation.id).not.toBe(id);
      });
    });

    describe('the purge of a workspace', () => {
      it('takes all its memories and tombstones, none of another', async () => {
        const { id } = await kit.fill(1);
        const forgotten = { place: HERE, fingerprint: 'print of gone' };
        const elsewhere = { place: ABROAD, fingerprint: 'print of gone' };
        const plan = {
          memoryIds: [],
          tombstones: [forgotten, elsewhere],
          redactions: [],
          sentences: [],
          actor: 'ada',
          now: NOW,
        };
        await store.memories.forget(plan);
        const abroad = { place: ABROAD, workspace: workspaceOf(ABROAD) };
        await kit.save(id, kit.inserting('said here', [1]));
        await kit.save(null, kit.inserting('asked here', []), kit.inserting('said abroad', [], abroad));
        await kit.save(null, kit.inserting('known everywhere', [], { scope: 'global', place: '', workspace: '' }));
        await store.memories.forget({ workspace: workspaceOf(HERE) });
        expect(await kit.recallable()).toEqual(['known everywhere']);
        expect((await kit.recallable(abroad)).toSorted()).toEqual(['known everywhere', 'said abroad']);
        const isForgotten = (place: string) => store.memories.forgotten(place, ['print of gone']);
        expect((await isForgotten(HERE)).size).toBe(0);
        expect((await isForgotten(ABROAD)).size).toBe(1);
      });
    });

    describe('audience', () => {
      it('only tightens, with the place’s memories and threads', async () => {
        const here = await kit.fill(1);
        const thread = await kit.fill(1, THREAD);
        await kit.save(here.id, kit.inserting('tea', [1]));
        await store.conversations.change(here.id, { kind: 'audience', audience: 'private' });
        expect((await kit.get(here.id)).audience).toBe('private');
        expect((await kit.get(thread.id)).audience).toBe('private');
        expect(
          (await store.memories.list({ reader: { ...READER, audience: 'dm' }, limit: 9, offset: 0 }))[0]?.audience,
        ).toBe('private');
        await store.conversations.change(here.id, { kind: 'audience', audience: 'public' });
        expect(await kit.get(here.id)).toMatchObject({ audience: 'public', tightestAudience: 'private' });
      });

      it('saves nothing looser than the place is now', async () => {
        const { id } = await kit.fill(1);
        const decided = kit.inserting('tea', [1], { audience: 'public' });
        await store.conversations.change(id, { kind: 'audience', audience: 'private' });
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
    });

    describe('memories', () => {
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

      it('skips a known statement but takes it in another place', async () => {
        const { id } = await kit.fill(1);
        const first = kit.inserting('tea', [1]);
        const rejected = kit.inserting('no', [1], { state: 'rejected' });
        const elsewhere = kit.inserting('tea', [1], { place: THERE });
        const ids = await kit.save(id, first, kit.inserting('tea', [1]), rejected, kit.inserting('no', [1]), elsewhere);
        expect(ids.map((found) => found !== null)).toEqual([true, false, true, false, true]);
      });

      it('takes up a source and promotes what is said again', async () => {
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
        expect(
          await kit.save(id, { kind: 'corroborate', id: 'none' as MemoryId, sources: [1], promote: true }),
        ).toEqual([null]);
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

      it('lists what the reader may read, and nothing else', async () => {
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

    describe('outbox', () => {
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
      });
    });

    describe('blobs', () => {
      it('reads ranges for their own conversation, until they expire', async () => {
        const { id } = await kit.fill(1);
        const there = await kit.fill(1, THERE);
        const blob = 'b1' as BlobId;
        await store.blobs.put({ id: blob, conversationId: id, text: 'abcdefgh', now: NOW });
        const range = { conversationId: id, from: 2, length: 3 };
        expect(await store.blobs.read(blob, range)).toEqual({ text: 'cde', totalLength: 8 });
        expect(await store.blobs.read(blob, { ...range, from: 99 })).toEqual({ text: '', totalLength: 8 });
        expect(await store.blobs.read(blob, { ...range, conversationId: there.id })).toBeNull();
        expect(await store.blobs.read('none' as BlobId, range)).toBeNull();
        expect(await store.blobs.expire(NOW)).toBe(0);
        expect(await store.blobs.expire(NOW + 1)).toBe(1);
        expect(await store.blobs.read(blob, range)).toBeNull();
      });
    });

    describe('journal and state', () => {
      // Shows: A24
      it('sums usage by purpose and model', async () => {
        const { id } = await kit.fill(1);
        const row = {
          purpose: 'reply',
          model: 'm',
          at: NOW,
          inputTokens: 1,
          outputTokens: 2,
          cacheReadTokens: 3,
          cacheWriteTokens: 4,
        } as const;
        await store.journal.addUsage(id, [row, row, { ...row, model: 'n' }]);
        await store.journal.addUsage(id, [{ ...row, purpose: 'compact' }]);
        const { at: _, ...once } = row;
        expect(await store.journal.usage(id)).toEqual([
          { ...once, purpose: 'compact', calls: 1 },
          { ...once, calls: 2, inputTokens: 2, outputTokens: 4, cacheReadTokens: 6, cacheWriteTokens: 8 },
          { ...once, model: 'n', calls: 1 },
        ]);
      });

      // Shows: Q25
      it('keeps the newest 100 runs of a conversation', async () => {
        const { id } = await kit.fill(1);
        const there = await kit.fill(1, THERE);
        for (let n = 0; n < 105; n++) await store.journal.addRun(run(id, n));
        await store.journal.addRun(run(there.id, 500));
        expect(await store.journal.runs(id, 2)).toEqual([run(id, 104), run(id, 103)]);
        expect(await store.journal.runs(id, 1_000)).toHaveLength(100);
        expect(await store.journal.runs(there.id, 9)).toHaveLength(1);
      });

      it('keeps small facts by namespace', async () => {
        const { state } = made.storage;
        await state.set('a', 'k', { n: [1, null, 'x'] });
        await state.set('a', 'j', false);
        await state.set('b', 'k', 'other');
        await state.set('a', 'k', { n: 2 });
        expect(await state.get('a', 'k')).toEqual({ n: 2 });
        expect(await state.get('c', 'k')).toBeUndefined();
        expect(await state.list('a')).toEqual([
          { key: 'j', value: false },
          { key: 'k', value: { n: 2 } },
        ]);
        await state.delete('a', 'k');
        expect(await state.get('a', 'k')).toBeUndefined();
        expect(await state.get('b', 'k')).toBe('other');
      });
    });

    it('refuses work once closed, and closes twice', async () => {
      await store.close();
      await store.close();
      await expect(kit.say('late')).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
    });

    storeProperties(() => options.create());
  });
}

/** Four parts, condensed twice: a level 2 over all of them. The message `x3` lies in the second part. */
async function condensed(kit: Kit) {
  const { id } = await kit.fill(2);
  await kit.say('secret', {}, { externalId: 'x3' });
  await kit.fill(7);
  const held = await kit.claim('maintenance', id);
  const parts = [kit.summary(1, 2), kit.summary(3, 4), kit.summary(5, 6), kit.summary(7, 8)];
  for (const part of parts) await kit.compact(held, part);
  const [a, b, c, d] = parts.map((part) => part.id);
  if (!a || !b || !c || !d) throw new Error('four');
  const left = kit.summary(1, 4, { level: 1 });
  const right = kit.summary(5, 8, { level: 1 });
  await kit.condense(held, left, [a, b]);
  await kit.condense(held, right, [c, d]);
  const upper = kit.summary(1, 8, { level: 2 });
  expect(await kit.condense(held, upper, [left.id, right.id])).toBe('committed');
  expect(await kit.stack(id)).toEqual(['L2 1-8']);
  return { id, held, parts: [a, b, c, d], upper: upper.id };
}

function run(conversationId: number, n: number): MaintenanceRun {
  return {
    id: `run ${conversationId} ${String(n).padStart(4, '0')}`,
    conversationId,
    work: 'compact',
    trigger: 'background',
    fromSeq: 1,
    toSeq: 2,
    outcome: 'committed',
    error: null,
    tokensBefore: 10,
    tokensAfter: 5,
    memories: 1,
    model: 'm',
    inputTokens: 3,
    outputTokens: 4,
    startedAt: NOW + n,
    durationMs: 5,
  };
}
