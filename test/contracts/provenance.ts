import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Conversation,
  type HeldQuery,
  type MemoryReader,
  type Storage,
  type SummaryId,
  textOf,
  workspaceOf,
} from '../../src/adapter-kit.ts';
import type { StorageUnderTest, StoreContractOptions } from './store.ts';
import { ABROAD, createKit, HERE, type Kit, NOW, READER, THERE, THREAD, textParts } from './store-kit.ts';

const BOB = { id: 'u2', name: 'Bob', kind: 'person' } as const;
const ABOUT = { id: 'u1', name: 'Ada' };
const SENTENCE = 'Ada is allergic to peanuts!';

/** The contract for recorded readings and for withheld sentences. */
export function provenanceContract(name: string, options: StoreContractOptions): void {
  describe(`provenance contract: ${name}`, () => {
    let made: StorageUnderTest;
    let storage: Storage;
    let kit: Kit;

    beforeEach(async () => {
      made = await options.create();
      storage = made.storage;
      kit = createKit(storage);
    });
    afterEach(() => made.dispose());

    const empty = { memoryIds: [], tombstones: [], redactions: [], sentences: [], actor: 'u1', now: NOW };
    const textAt = async (id: number, seq: number) => {
      const [entry] = await storage.store.transcript.pick(id, [seq]);
      return textOf(entry?.parts ?? []);
    };
    /** Bob's message with a hidden sentence. */
    const holding = async (key = HERE): Promise<Conversation> => {
      const text = `Bring cake. ${SENTENCE} See you.`;
      const message = { author: BOB, externalId: 'x1' };
      const { conversation, seq } = await kit.say(text, { conversation: key }, message);
      const sentences = [{ id: kit.next('h'), text: SENTENCE }];
      const removal = { conversationId: conversation.id, seq, sentences, kind: 'hold', about: ABOUT } as const;
      await storage.store.memories.forget({ ...empty, sentences: [removal] });
      return conversation;
    };
    const listed = (place: string, page: Pick<HeldQuery, 'limit' | 'after'> = { limit: 9, after: null }) =>
      storage.provenance.held({ place, ...page });

    describe('additions', () => {
      const edit = (id: number, text: string, now: number) =>
        storage.store.transcript.edit(id, { externalId: 'x1', parts: textParts(text), tokens: 1, now });
      const addedTo = async (id: number) =>
        [...(await storage.provenance.messageAdditions(id, [1, 2]))].map(([seq, all]) => ({ seq, all }));

      it('are the words that edits add to a message', async () => {
        const { conversation } = await kit.say('Tea at nine', {}, { externalId: 'x1' });
        await kit.say('never edited', {}, { externalId: 'x2' });
        expect(await addedTo(conversation.id)).toEqual([]);
        await edit(conversation.id, 'Tea and cake at nine', NOW + 1);
        await edit(conversation.id, 'Cake and honey at ten', NOW + 2);
        expect(await addedTo(conversation.id)).toEqual([
          {
            seq: 1,
            all: [
              { at: NOW + 1, words: expect.arrayContaining(['cake', 'and']) },
              { at: NOW + 2, words: expect.arrayContaining(['honey', 'ten']) },
            ],
          },
        ]);
        const { store } = storage;
        await store.transcript.redact(conversation.id, { externalIds: ['x1'], derived: [], now: NOW + 3 });
        expect(await addedTo(conversation.id)).toEqual([]);
      });

      it('leave a message with what is taken out of it', async () => {
        const { conversation } = await kit.say('Bring cake.', {}, { externalId: 'x1', author: BOB });
        await edit(conversation.id, `Bring cake. ${SENTENCE}`, NOW + 1);
        const sentences = [{ id: kit.next('h'), text: SENTENCE }];
        const removal = { conversationId: conversation.id, seq: 1, sentences, kind: 'strike', about: ABOUT } as const;
        await storage.store.memories.forget({ ...empty, sentences: [removal] });
        expect(await addedTo(conversation.id)).toEqual([]);
      });

      it('are the words that edits add to a memory', async () => {
        const { conversation } = await kit.say('hello');
        const [id] = await kit.save(conversation.id, kit.inserting('Ada likes tea', [1]));
        if (!id) throw new Error('the memory was not saved');
        expect((await storage.provenance.memoryAdditions([id])).size).toBe(0);
        const event = { kind: 'edited', at: NOW + 1, actor: 'u1', detail: null } as const;
        await storage.store.memories.change(id, { text: 'Ada likes green tea' }, event);
        await storage.store.memories.change(id, { pinned: true }, { ...event, at: NOW + 2 });
        expect(await storage.provenance.memoryAdditions([id])).toEqual(
          new Map([[id, [{ at: NOW + 1, words: ['green'] }]]]),
        );
      });
    });

    describe('withheld sentences', () => {
      it('leave a mark in the text, hidden from search', async () => {
        const { id } = await holding();
        expect(await textAt(id, 1)).toMatch(/^Bring cake\. \(held back: \w+\) See you\.$/);
        expect(await storage.search.entries({ conversationId: id, text: 'allergic peanuts', limit: 9 })).toEqual([]);
        expect(await storage.search.entries({ conversationId: id, text: 'cake', limit: 9 })).toHaveLength(1);
      });

      it('are listed by place with its threads, in pages', async () => {
        await holding(HERE);
        await holding(THREAD);
        await holding(THERE);
        expect(await listed(HERE)).toMatchObject([
          { conversation: HERE, seq: 1, author: BOB, text: SENTENCE, about: ABOUT, at: NOW },
          { conversation: THREAD },
        ]);
        const [after = null] = await listed(HERE, { limit: 1, after: null });
        expect(await listed(HERE, { limit: 1, after })).toMatchObject([{ conversation: THREAD }]);
        expect(await listed(THERE)).toHaveLength(1);
      });

      it('are released once, to and from their own place', async () => {
        const { id } = await holding();
        const [held] = await listed(HERE);
        const decision = { id: held?.id ?? '', place: HERE, kind: 'release', now: NOW } as const;
        expect(await storage.provenance.decide({ ...decision, place: THERE })).toBeNull();
        expect(await storage.provenance.decide(decision)).toMatchObject({ text: SENTENCE });
        expect(await storage.provenance.decide(decision)).toBeNull();
        expect(await textAt(id, 1)).toBe(`Bring cake. ${SENTENCE} See you.`);
        expect(await storage.search.entries({ conversationId: id, text: 'allergic', limit: 9 })).toHaveLength(1);
      });

      it('are struck for good', async () => {
        const { id } = await holding();
        const [held] = await listed(HERE);
        await storage.provenance.decide({ id: held?.id ?? '', place: HERE, kind: 'strike', now: NOW });
        expect(await textAt(id, 1)).toBe('Bring cake. (removed) See you.');
        expect(await listed(HERE)).toEqual([]);
      });

      it('stay struck when the rest of the message is edited', async () => {
        const { id } = await holding();
        const [held] = await listed(HERE);
        await storage.provenance.decide({ id: held?.id ?? '', place: HERE, kind: 'strike', now: NOW });
        const edit = (text: string) =>
          storage.store.transcript.edit(id, { externalId: 'x1', parts: textParts(text), tokens: 5, now: NOW });
        for (const written of [SENTENCE, SENTENCE.toUpperCase(), SENTENCE.replace('Ada', '*Ada*')]) {
          await edit(`Bring two. ${written} See you.`);
          expect(await textAt(id, 1)).toBe('Bring two. (removed) See you.');
        }
        expect(await storage.search.entries({ conversationId: id, text: 'allergic', limit: 9 })).toEqual([]);
      });

      it('stay withheld through edits; deleted with the message', async () => {
        const { id } = await holding();
        const edit = (text: string) =>
          storage.store.transcript.edit(id, { externalId: 'x1', parts: textParts(text), tokens: 5, now: NOW });
        await edit(`Bring two. ${SENTENCE}`);
        expect(await textAt(id, 1)).toMatch(/^Bring two\. \(held back: \w+\)$/);
        await edit('Bring two.');
        expect(await listed(HERE)).toEqual([]);
        const other = await holding(THREAD);
        await storage.store.transcript.redact(other.id, { externalIds: ['x1'], now: NOW });
        expect(await listed(HERE)).toEqual([]);
      });
    });

    describe('readings', () => {
      /** A memory, and a turn in another place. */
      const readingElsewhere = async () => {
        const { conversation: own } = await kit.say('Ada likes tea');
        const [memoryId] = await kit.save(own.id, kit.inserting('Ada likes tea', [1]));
        const { claim, conversation } = await kit.say('q', { conversation: THERE, wantsReply: true, claimLeaseMs: 9 });
        if (!memoryId || claim === null) throw new Error('no memory or no claim');
        return { own: own.id, memoryId, claim, id: conversation.id };
      };

      it('are noted once by a turn, except in their conversation', async () => {
        const { own, memoryId, claim, id } = await readingElsewhere();
        await kit.commitTurn(claim, { given: [memoryId, memoryId] });
        await storage.store.memories.recalled([memoryId], { conversationId: id, now: NOW });
        await storage.store.memories.recalled([memoryId], { conversationId: own, now: NOW });
        expect(await storage.provenance.readings([memoryId])).toEqual([{ memoryId, conversationId: id, fromSeq: 1 }]);
        expect(await storage.provenance.readings([])).toEqual([]);
      });

      it('make a turn stale once its memory is forgotten', async () => {
        const { memoryId, claim, id } = await readingElsewhere();
        await storage.store.memories.forget({ ...empty, memoryIds: [memoryId] });
        expect((await kit.commitTurn(claim, { given: [memoryId] })).kind).toBe('stale');
        expect((await kit.get(id)).replyUntil).toBeNull();
        expect(await kit.tryClaim('reply', id)).not.toBeNull();
      });

      it('are checked at every turn', async () => {
        const { memoryId, claim } = await readingElsewhere();
        await kit.commitTurn(claim, { given: [memoryId] });
        const next = async () => {
          const { claim: held } = await kit.say('q', { conversation: THERE, wantsReply: true, claimLeaseMs: 9 });
          if (held === null) throw new Error('no claim');
          return (await kit.commitTurn(held, { given: [memoryId], readUpto: 3 })).kind;
        };
        expect([await next(), await next()]).toEqual(['committed', 'committed']);
        expect(await storage.provenance.readings([memoryId])).toHaveLength(1);
        await storage.store.memories.forget({ ...empty, memoryIds: [memoryId] });
        expect(await next()).toBe('stale');
      });

      it('end where the memory is forgotten or closed', async () => {
        const { memoryId, claim, id } = await readingElsewhere();
        await kit.commitTurn(claim, {});
        const { provenance } = storage;
        expect(await provenance.areReadable(id, [memoryId, memoryId])).toBe(true);
        expect(await provenance.areReadable(id, [])).toBe(true);
        expect(await provenance.areReadable(9999, [memoryId])).toBe(false);
        await storage.store.memories.forget({ ...empty, memoryIds: [memoryId] });
        expect(await provenance.areReadable(id, [memoryId])).toBe(false);
      });

      it('go with their memory', async () => {
        const { memoryId, claim } = await readingElsewhere();
        await kit.commitTurn(claim, { given: [memoryId] });
        await storage.store.memories.forget({ ...empty, memoryIds: [memoryId] });
        expect(await storage.provenance.readings([memoryId])).toEqual([]);
      });
    });

    describe('messages of another conversation', () => {
      /** Two of them, the second by a bot, and a turn that was shown them. */
      const quoting = async () => {
        const bot = { id: 'b1', name: 'Relay', kind: 'bot' } as const;
        await kit.say('Ada likes tea', {}, { externalId: 'said' });
        const { conversation } = await kit.say('tea is', {}, { externalId: 'streamed', author: bot });
        const { claim } = await kit.say('q', { conversation: THERE, wantsReply: true, claimLeaseMs: 9 });
        if (claim === null) throw new Error('no claim');
        const quotes = [{ conversationId: conversation.id, revision: conversation.revision, seqs: [1, 2] }];
        return { id: conversation.id, end: async () => (await kit.commitTurn(claim, { quotes })).kind };
      };
      const edit = (id: number, externalId: string) =>
        storage.store.transcript.edit(id, { externalId, parts: textParts('other words'), tokens: 2, now: NOW });

      it.each<[string, (id: number) => Promise<unknown>, string]>([
        ['nothing happens', async () => undefined, 'committed'],
        ['a bot goes on writing', (id) => edit(id, 'streamed'), 'committed'],
        ['a person edits one', (id) => edit(id, 'said'), 'stale'],
        ['one is deleted', (id) => storage.store.transcript.redact(id, { externalIds: ['said'], now: NOW }), 'stale'],
        ['all are deleted', (id) => storage.store.conversations.change(id, { kind: 'purge' }), 'stale'],
      ])('end a turn that was shown them: %s', async (_, happen, expected) => {
        const { id, end } = await quoting();
        await happen(id);
        expect(await end()).toBe(expected);
      });
    });

    describe('memories about a person that a reader cannot read', () => {
      const withheld = (over: Partial<MemoryReader>, within = 'terminal') =>
        storage.provenance.withheld({ subjectId: 'u1', within, reader: { ...READER, ...over }, limit: 9, after: null });
      const about = { subjectId: 'u1', subjectName: 'Ada' } as const;

      it('are listed within the scope, newest first, without text', async () => {
        const direct = kit.inserting('secret', [], { ...about, place: THERE, audience: 'dm' });
        const abroad = kit.inserting('far', [], { ...about, place: ABROAD, workspace: workspaceOf(ABROAD) });
        await kit.save(null, kit.inserting('here', [], about), direct);
        await storage.store.memories.save({ conversationId: null, writes: [abroad], actor: 'u1', now: NOW + 1 });
        const within = await withheld({}, workspaceOf(HERE));
        expect(within).toEqual([
          { id: expect.any(String), kind: 'fact', state: 'active', audience: 'dm', createdAt: NOW },
        ]);
        expect((await withheld({})).map(({ createdAt }) => createdAt)).toEqual([NOW + 1, NOW]);
        expect(await withheld({ place: THERE, audience: 'dm' }, workspaceOf(HERE))).toHaveLength(1);
        expect(await withheld({}, 'term')).toEqual([]);
      });

      it('end with the audience of their place', async () => {
        await kit.save(null, kit.inserting('private', [], { ...about, audience: 'private' }));
        expect(await withheld({ audience: 'public' })).toHaveLength(1);
        expect(await withheld({ audience: 'private' })).toEqual([]);
      });
    });

    describe('text derived from a deleted message', () => {
      it('loses its text in the same transaction, in every conversation', async () => {
        const here = await kit.say('secret', {}, { externalId: 'x1' });
        await kit.say('an echo');
        const there = await kit.say('another echo', { conversation: THERE });
        const held = await kit.claim('maintenance', there.conversation.id);
        await kit.say('more', { conversation: THERE });
        const summary = kit.summary(1, 1);
        await kit.compact(held, summary);
        const derived = [
          { conversationId: here.conversation.id, seqs: [2], summaryIds: [] },
          { conversationId: there.conversation.id, seqs: [], summaryIds: [summary.id as SummaryId] },
        ];
        const redaction = { externalIds: ['x1'], derived, now: NOW };
        expect(await storage.store.transcript.redact(here.conversation.id, redaction)).toEqual([1, 2]);
        expect(await textAt(here.conversation.id, 2)).toBe('');
        expect(await kit.stack(there.conversation.id)).toEqual(['gap 1-1']);
      });
    });
  });
}
