import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BlobId,
  type MemoryId,
  type MemoryQuery,
  type Part,
  type Search,
  type Store,
  tokensOf,
} from '../../src/adapter-kit.ts';
import { CABIN_ELSEWHERE } from '../fixtures/cabin-elsewhere.ts';
import { CABIN_IN_ASIA } from '../fixtures/cabin-in-asia.ts';
import { INFLECTED } from '../fixtures/inflections.ts';
import { LANGUAGES } from '../fixtures/languages.ts';
import { SIZED, sized } from '../support/size.ts';
import type { StorageUnderTest, StoreContractOptions } from './store.ts';
import { ABROAD, createKit, HERE, type Kit, NOW, READER, THERE, textParts } from './store-kit.ts';

/** Texts, and words in another spelling or as a part of one that they contain. */
const SPELLINGS = [
  ['Die Haustürschlüssel fehlen', 'Schlüssel'],
  ['Köln am Rhein', 'Koeln'],
  ['Joerg kommt', 'Jörg'],
  ['Łódź nocą', 'lodz'],
  ['наш кот спит', 'коты'],
  ['שמתי את המפתח במגירה', 'מפתח'],
  ['אֲחוֹתִי גָּרָה בְּחֵיפָה', 'אחותי'],
  ['የድንኳኑ ቀለም', 'ድንኳን'],
  ['الخَيْمَةُ بُرْتُقالِيَّة', 'الخيمة'],
  ['نظارتى على الطاوله', 'الطاولة نظارتي'],
  ['موعد ٢٣ مارس', '23'],
  ['हमारा तम्बू', 'तंबू'],
  ['我們的貓喜歡罐頭', '猫罐头'],
  ['the me\u00adga\u00adphone broke', 'megaphone'],
  ['نمی\u200cخواهم', 'نمیخواهم'],
  ['Որտե՞ղ է', 'որտեղ'],
  ['ｽｰﾊﾟｰのカード', 'スーパー'],
  ['ห้อง๓๐๕ชั้นบน', '305'],
  ['look into PaymentRetryHandler.ts', 'retry'],
  ['our HTTPServer is down', 'server'],
  ['the Wi-Fi code', 'wifi'],
  ['the wifi code', 'Wi-Fi'],
  ['ticket ABC-1234 is open', 'ABC1234'],
  ['call +49 170 1234567', '+491701234567'],
  ['โทร ๐๘๑-๒๓๔-๕๖๗๘', '0812345678'],
  ['the boat costs 4,000 EUR', '4000'],
  ['the boat costs 4000 EUR', '4,000'],
  ['das Boot kostet 4.000 €', '4000'],
  ['le bateau coûte 4 000 €', '4000'],
  ['the boat costs 1,23,456 rupees', '123456'],
  ['नाव ४,००० रुपये की है', '4000'],
  ['the call is at 15:00', '3 pm'],
  ['the call is at 3 p.m.', '15:00'],
  ['the call is at 12:30am', '0:30'],
  ['appel à 15h30', '3:30pm'],
  ['it ends on 2026-03-04', 'March 4'],
  ['es endet am 4.3.', 'March 4'],
  ['es endet am 4.3.2026', '4 März'],
  ['termina el 4 de marzo', 'Mar 4th'],
  ['3月4日に終わる', '2026-03-04'],
  ['the boat costs 4,000 dollars', '$4k'],
  ['the boat costs $4.5k', '4500'],
  ['flight LH 1234 is late', 'LH1234'],
  ['flight LH1234 is late', 'lh 1234'],
  ['flight LH 1234 is late', 'lh-1234'],
  ['flight lh-1234 is late', 'LH 1234'],
  ['call +49 170 1234567', '0170/123 45 67'],
  ['call 5551234567', '+1 (555) 123-4567'],
  ['🍕 is for Leo', '🍕'],
  ['👍🏽 from Ada', '👍'],
  ['Мој брат живи у Нишу', 'živi'],
  ['Gde je ključ od podruma', 'кључа'],
] as const;

/**
 * The contract of search: what is found and what is not. Scores, and the order of near equals, are up to the engine.
 */
export function searchContract(name: string, options: StoreContractOptions): void {
  describe(`search contract: ${name}`, () => {
    let made: StorageUnderTest;
    let store: Store;
    let search: Search;
    let kit: Kit;

    beforeEach(async () => {
      made = await options.create();
      ({ store, search } = made.storage);
      kit = createKit(made.storage);
    });
    afterEach(() => made.dispose());

    const tell = async (texts: readonly string[], conversation = HERE) => {
      let id = 0;
      for (const text of texts) ({ id } = (await kit.say(text, { conversation })).conversation);
      return id;
    };
    const find = async (conversationId: number, text: string, over: object = {}) =>
      (await search.entries({ conversationId, text, limit: 10, ...over })).map((hit) => hit.seq);

    describe('entries', () => {
      it('finds words whatever their case, their ending or their accents', async () => {
        const id = await tell(['We went PAINTING in the café', 'nothing here', 'Straße nach Zürich']);
        expect(await find(id, 'paints')).toEqual([1]);
        expect(await find(id, 'cafe')).toEqual([1]);
        expect(await find(id, 'zurich')).toEqual([3]);
        expect(await find(id, 'absent')).toEqual([]);
      });

      it('finds other inflections of a word in many languages', async () => {
        const facts = INFLECTED.flatMap((language) => language.facts);
        const id = await tell(facts.map(([fact]) => fact));
        let found = 0;
        for (const [at, [, question]] of facts.entries()) if ((await find(id, question)).includes(at + 1)) found += 1;
        expect(found / facts.length).toBeGreaterThanOrEqual(0.95);
      });

      it('keeps English words and numbers apart that only begin alike', async () => {
        const id = await tell(['We saw the carpet', 'the number was 44170', 'the performance was long']);
        for (const text of ['Where is the carpenter?', 'What was 44179?', 'What is to perforate?'])
          expect(await find(id, text)).toEqual([]);
        expect(await find(id, 'Welche Form?', { inflects: false })).toEqual([]);
      });

      it('keeps values apart that only look alike', async () => {
        const id = await tell(['the call is at 03:00', 'it costs 40 euros', 'flight XX 99']);
        for (const text of ['3 pm', '$4k', 'LH 99000', '+1 555 123 4567'])
          expect([text, await find(id, text)]).toEqual([text, []]);
      });

      it('finds any word, ranking more and rarer ones first', async () => {
        const id = await tell(['tea and toast', 'tea', 'tea with jam', 'a walrus', 'tea again', 'quiet', 'rain']);
        expect((await find(id, 'walrus tea'))[0]).toBe(4);
        expect((await find(id, 'jam tea'))[0]).toBe(3);
        expect((await find(id, 'jam tea')).toSorted()).toEqual([1, 2, 3, 5]);
        expect(await find(id, 'tea', { limit: 2 })).toHaveLength(2);
        expect(await find(id, 'tea', { limit: 0 })).toEqual([]);
      });

      it('gives scores above zero, the best first', async () => {
        const id = await tell(['tea', 'tea and jam']);
        const hits = await search.entries({ conversationId: id, text: 'jam tea', limit: 9 });
        expect(hits).toHaveLength(2);
        expect(hits.every((hit) => hit.score > 0)).toBe(true);
        expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? Number.POSITIVE_INFINITY);
      });

      it('ignores stop words, unless there is nothing else', async () => {
        const id = await tell(['what is the time', 'the who played', 'harmony']);
        expect(await find(id, 'what is the harmony')).toEqual([3]);
        expect(await find(id, 'the who')).toContain(2);
      });

      it.each(LANGUAGES)('finds each fact by a question in its words: $name', async ({ facts, fillers }) => {
        const talk = facts.flatMap(([fact], index) => [
          fact,
          ...[0, 1, 2].map((more) => fillers[(index * 3 + more) % fillers.length] ?? ''),
        ]);
        const id = await tell(talk);
        const found = [];
        for (const [, question] of facts) found.push((await find(id, question))[0]);
        expect(found.map((seq) => talk[(seq ?? 0) - 1])).toEqual(facts.map(([fact]) => fact));
      });

      it.each([...CABIN_IN_ASIA, ...CABIN_ELSEWHERE])(
        'finds what is asked in other words: $name',
        async ({ facts }) => {
          const id = await tell(facts.map(([fact]) => fact));
          let [found, first] = [0, 0];
          for (const [at, [, question]] of facts.entries()) {
            const seqs = await find(id, question);
            found += Number(seqs.slice(0, 3).includes(at + 1));
            first += Number(seqs[0] === at + 1);
          }
          expect(found).toBe(facts.length);
          expect(first).toBeGreaterThanOrEqual(facts.length - 1);
        },
      );

      it('drops the stop words of the spoken language only', async () => {
        const id = await tell([
          'the war ended',
          'the plant will die',
          'my son is ten',
          'Das war der Hund',
          'Le son de cloche',
        ]);
        expect(await find(id, 'When did the war end?')).toEqual([1, 4]);
        expect(await find(id, 'Does it die?')).toEqual([2]);
        expect((await find(id, 'How old is my son?')).toSorted()).toEqual([3, 5]);
        expect(await find(id, 'Was war mit dem Hund?')).toEqual([4]);
      });

      it('finds words whose stem has a shorter stem', async () => {
        const words = ['house', 'promise', 'horse', 'Élise', 'increase', 'because'];
        const id = await tell(words);
        for (const [index, word] of words.entries()) expect(await find(id, word)).toEqual([index + 1]);
      });

      it('finds a word with or without apostrophe, and its parts', async () => {
        const id = await tell(["O'Brien called", "they don't know", "Ada's cat"]);
        for (const word of ["O'Brien", 'OBrien', 'Brien']) expect(await find(id, word)).toEqual([1]);
        for (const word of ["don't know", 'dont know']) expect(await find(id, word)).toEqual([2]);
        expect(await find(id, 'Ada')).toEqual([3]);
      });

      it.each(SPELLINGS)('finds "%s" by "%s"', async (said, asked) => {
        const id = await tell(['first', said, 'last']);
        expect(await find(id, asked)).toEqual([2]);
      });

      it('takes other signs for an apostrophe', async () => {
        const id = await tell(['Nous aimons l´hôtel', 'Lizbon´a gittik', 'don´t worry', 'oʻzbek osh', 'o‘zbek tili']);
        expect(await find(id, 'hôtel')).toEqual([1]);
        expect(await find(id, "l'hôtel")).toEqual([1]);
        expect(await find(id, 'lhôtel')).toEqual([1]);
        expect(await find(id, 'Lizbon')).toEqual([2]);
        expect(await find(id, "don't worry")).toEqual([3]);
        expect((await find(id, "o'zbek")).toSorted()).toEqual([4, 5]);
        expect((await find(id, 'ozbek')).toSorted()).toEqual([4, 5]);
      });

      // Shows: Q28
      it('finds words inside sentences of scripts without spaces', async () => {
        const id = await tell([
          '来週は東京に行きます',
          '北京的天气很好',
          '我喜欢猫',
          'ฉันชอบกินข้าวผัด',
          'カタカナのテスト',
          '大阪',
        ]);
        expect(await find(id, '東京')).toEqual([1]);
        expect(await find(id, '北京')).toEqual([2]);
        expect(await find(id, '猫')).toEqual([3]);
        expect((await find(id, '京')).toSorted()).toEqual([1, 2]);
        expect(await find(id, 'ข้าวผัด')).toEqual([4]);
        expect(await find(id, 'テスト')).toEqual([5]);
        expect((await find(id, '東京と北京の天気'))[0]).toSatisfy((seq) => seq === 1 || seq === 2);
      });

      it('never finds messages of another conversation', async () => {
        const ids = [];
        for (let n = 0; n < 12; n++) {
          const key = n % 2 === 0 ? HERE : THERE;
          ids.push(await tell([`secret${n} shared`], n < 2 ? key : (`terminal:local:room${n}` as typeof HERE)));
        }
        for (const [n, id] of ids.entries()) {
          expect(await find(id, 'shared')).toEqual([1]);
          for (let other = 0; other < 12; other++)
            expect(await find(id, `secret${other}`)).toEqual(n === other ? [1] : []);
        }
        expect(await find(999, 'shared')).toEqual([]);
      });

      it('gives the same scores whatever other conversations hold', async () => {
        const id = await tell(['tea', 'tea and jam', 'jam', 'rain']);
        const before = await search.entries({ conversationId: id, text: 'tea jam', limit: 9 });
        await tell(['tea', 'tea', 'tea', 'sun', 'snow', 'wind'], THERE);
        expect((await search.entries({ conversationId: id, text: 'tea jam', limit: 9 })).map((hit) => hit.seq)).toEqual(
          before.map((hit) => hit.seq),
        );
      });

      it('keeps to the asked author, time and range', async () => {
        const bob = { id: 'u2', name: 'Bob', kind: 'person' } as const;
        const { conversation } = await kit.say('tea one', {}, { at: NOW });
        await kit.say('tea two', {}, { at: NOW + 10, author: bob });
        await kit.say('tea three', {}, { at: NOW + 20 });
        const { id } = conversation;
        expect((await find(id, 'tea')).toSorted()).toEqual([1, 2, 3]);
        expect(await find(id, 'tea', { authorId: 'u2' })).toEqual([2]);
        expect((await find(id, 'tea', { sinceAt: NOW + 10 })).toSorted()).toEqual([2, 3]);
        expect(await find(id, 'tea', { sinceAt: NOW + 10, authorId: 'u1' })).toEqual([3]);
        expect((await find(id, 'tea', { fromSeq: 2 })).toSorted()).toEqual([2, 3]);
        expect((await find(id, 'tea', { toSeq: 2 })).toSorted()).toEqual([1, 2]);
        expect(await find(id, 'tea', { fromSeq: 2, toSeq: 2 })).toEqual([2]);
        expect(await find(id, 'tea', { fromSeq: 3, toSeq: 2 })).toEqual([]);
      });

      it('finds answers, file names and tool output, no notices', async () => {
        const { claim, conversation } = await kit.say(
          'q',
          { wantsReply: true, claimLeaseMs: 9 },
          {
            parts: [{ kind: 'attachment', name: 'budget-plan.pdf', mediaType: 'x/y', sizeBytes: 1, reference: 'r' }],
          },
        );
        if (claim === null) throw new Error('no claim');
        const result: Part = {
          kind: 'tool-result',
          callId: 'c',
          tool: 't',
          text: 'ticket walrus',
          isError: false,
          blob: { id: 'b' as BlobId, sizeBytes: 1 },
        };
        await kit.commitTurn(claim, {
          entries: [
            { role: 'tool', parts: [result], tokens: 1, at: NOW },
            { role: 'assistant', parts: textParts('answer giraffe'), tokens: 1, at: NOW },
            { role: 'notice', parts: textParts('sorry zebra'), tokens: 1, at: NOW },
          ],
        });
        expect(await find(conversation.id, 'budget')).toEqual([1]);
        expect(await find(conversation.id, 'walrus')).toEqual([2]);
        expect(await find(conversation.id, 'giraffe')).toEqual([3]);
        expect(await find(conversation.id, 'zebra')).toEqual([]);
      });

      it('follows edits, deletions and purges', async () => {
        const { conversation } = await kit.say('old walrus', {}, { externalId: 'x1' });
        const { id } = conversation;
        await store.transcript.edit(id, { externalId: 'x1', parts: textParts('new giraffe'), tokens: 2, now: NOW });
        expect(await find(id, 'walrus')).toEqual([]);
        expect(await find(id, 'giraffe')).toEqual([1]);
        await store.transcript.redact(id, { externalIds: ['x1'], now: NOW });
        expect(await find(id, 'giraffe')).toEqual([]);
        await tell(['zebra']);
        await store.conversations.change(id, { kind: 'purge' });
        expect(await find(id, 'zebra')).toEqual([]);
        const again = await tell(['zebra']);
        expect(await find(again, 'zebra')).toEqual([1]);
      });

      it('takes any text as words, never as an expression', async () => {
        const id = await tell(['alpha beta', 'NEAR and OR and NOT', "don't stop"]);
        const strange = [
          '"alpha"',
          'alpha*',
          'alpha AND',
          '(alpha',
          'words:alpha',
          '-alpha',
          'alpha^2',
          '{alpha}',
          "'alpha'",
          'alpha;--',
        ];
        for (const text of strange) expect([text, await find(id, text)]).toEqual([text, [1]]);
        for (const text of ['', ' ', '"', '***', '🙂', '\u0000', '( ) " \' : ^'])
          expect(await find(id, text)).toEqual([]);
        expect(await find(id, 'NEAR')).toEqual([2]);
        expect(await find(id, "DON'T")).toEqual([3]);
        expect(await find(id, 'alpha '.repeat(5_000))).toEqual([1]);
      });

      it('finds a message by each of its words', SIZED, async () => {
        const words = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), {
          minLength: 1,
          maxLength: 8,
        });
        await fc.assert(
          fc.asyncProperty(words, async (parts) => {
            const text = parts.join(' ');
            const { conversation, seq } = await kit.say(text);
            for (const token of new Set(tokensOf(text))) {
              const hits = await search.entries({
                conversationId: conversation.id,
                text: token,
                limit: 1,
                fromSeq: seq,
              });
              expect([token, hits.map((hit) => hit.seq)]).toEqual([token, [seq]]);
            }
          }),
          { numRuns: sized({ small: 25, full: 40 }) },
        );
      });

      it('finds rare and common words in a long conversation', async () => {
        const filler = (n: number) => `common talk about ${['tea', 'rain', 'work', 'music'][n % 4]} today`;
        // The rare words are older than the 2,000 entries that a store may rank. The first entry is the question.
        const texts = Array.from({ length: 2_600 }, (_, n) => filler(n));
        texts[98] = 'common talk about the walrus today';
        texts[148] = 'quiet words about the walrus today';
        texts[198] = 'a walrus alone with many other words that make it long';
        texts[398] = 'tea and rain on one day';
        const { id } = await kit.ask();
        // One transaction, because one for each message takes most of the time.
        const entries = texts.map(
          (text) => ({ role: 'assistant', parts: textParts(text), tokens: 5, at: NOW }) as const,
        );
        await kit.commitTurn(await kit.claim('reply', id), { entries });
        const rare = (await find(id, 'common talk walrus')).slice(0, 3);
        expect(rare[0]).toBe(100);
        expect(new Set(rare)).toEqual(new Set([100, 150, 200]));
        expect((await find(id, 'tea rain'))[0]).toBe(400);
        expect(await find(id, 'common')).toHaveLength(10);
        expect(await find(id, 'common talk', { toSeq: 50 })).toHaveLength(10);
        expect(new Set(await find(id, 'walrus', { fromSeq: 101 }))).toEqual(new Set([150, 200]));
      }, 60_000);
    });

    describe('memories', () => {
      const find = async (text: string, over: Partial<MemoryQuery['reader']> = {}, states?: MemoryQuery['states']) => {
        const query = { reader: { ...READER, ...over }, text, limit: 10, ...(states ? { states } : {}) };
        const found = [];
        for (const hit of await search.memories(query)) found.push((await store.memories.find(hit.id))?.text);
        return found;
      };

      it('finds what the reader may read, and nothing else', async () => {
        const { id } = await kit.fill(1);
        await kit.save(
          id,
          kit.inserting('tea here', [1]),
          kit.inserting('tea private', [1], { audience: 'private' }),
          kit.inserting('tea there', [1], { place: THERE }),
          kit.inserting('tea abroad', [1], { place: ABROAD, workspace: 'terminal:foreign' }),
          kit.inserting('tea everywhere', [], { scope: 'global', place: '', workspace: '' }),
        );
        expect((await find('tea')).toSorted()).toEqual(['tea everywhere', 'tea here']);
        expect((await find('tea', { audience: 'private' })).toSorted()).toEqual([
          'tea everywhere',
          'tea here',
          'tea private',
        ]);
        expect((await find('tea', { sharePublic: true })).toSorted()).toEqual([
          'tea everywhere',
          'tea here',
          'tea there',
        ]);
        expect(await find('tea', { place: 'a:b:c', workspace: 'a:b' })).toEqual(['tea everywhere']);
      });

      it('recalls active ones, and others when they are asked for', async () => {
        const { id } = await kit.fill(1);
        await kit.save(
          id,
          kit.inserting('active tea', [1]),
          kit.inserting('candidate tea', [1], { state: 'candidate' }),
        );
        expect(await find('tea')).toEqual(['active tea']);
        expect((await find('tea', {}, ['candidate', 'active'])).toSorted()).toEqual(['active tea', 'candidate tea']);
        expect(await find('tea', {}, ['rejected'])).toEqual([]);
      });

      it('ranks by rarity among what the reader may read', async () => {
        const { id } = await kit.fill(1);
        const elsewhere = { place: ABROAD, workspace: 'terminal:foreign' };
        for (let n = 0; n < 5; n++) await kit.save(id, kit.inserting(`walrus ${n}`, [1], elsewhere));
        for (let n = 0; n < 5; n++) await kit.save(id, kit.inserting(`tea number ${n}`, [1]));
        await kit.save(id, kit.inserting('the walrus', [1]));
        expect((await find('tea walrus'))[0]).toBe('the walrus');
      });

      it('finds the newest of equal memories first', async () => {
        const { id } = await kit.fill(1);
        const names = ['k2', 'k3', 'k1'];
        const equal = names.map((name) => kit.inserting(`tea ${name}`, [1], { id: name as MemoryId }));
        await kit.save(id, ...equal);
        expect(await find('tea')).toEqual(['tea k3', 'tea k2', 'tea k1']);
      });

      it('ranks a few as it ranks them among many', async () => {
        const { id } = await kit.fill(1);
        const telling = ['the walrus drinks tea', 'tea tea and jam on the table', 'what good jam', '北京的茶 tea'];
        await kit.save(id, ...telling.map((text) => kit.inserting(text, [1])));
        const asked = ['tea walrus', 'jam tea tea', '北京', 'tables'];
        const alone = [];
        for (const text of asked) alone.push(await find(text));
        expect(alone.map(([best]) => best)).toEqual([telling[0], telling[1], telling[3], telling[1]]);
        const others = Array.from({ length: 400 }, (_, n) => kit.inserting(`somebody keeps box ${n}`, [1]));
        await kit.save(id, ...others);
        const among = [];
        for (const text of asked) among.push(await find(text));
        expect(among).toEqual(alone);
      });

      it('follows changes of the text, and forgetting', async () => {
        const { id } = await kit.fill(1);
        const memory = kit.memory('likes tea');
        await kit.save(id, { kind: 'insert', memory, sources: [1] });
        await store.memories.change(
          memory.id,
          { text: '喜欢咖啡' },
          { kind: 'edited', at: NOW, actor: 'u1', detail: null },
        );
        expect(await find('tea')).toEqual([]);
        expect(await find('咖啡')).toEqual(['喜欢咖啡']);
        await store.memories.forget({
          memoryIds: [memory.id],
          tombstones: [],
          redactions: [],
          sentences: [],
          actor: 'u1',
          now: NOW,
        });
        expect(await find('咖啡')).toEqual([]);
        expect(await find('')).toEqual([]);
      });
    });

    describe('summaries', () => {
      const find = async (conversationId: number, text: string) =>
        (await search.summaries({ conversationId, text, limit: 10 })).map((hit) => hit.id);

      it('finds a conversation’s, superseded too, until deleted', async () => {
        const { id } = await kit.fill(1);
        await kit.say('secret', {}, { externalId: 'x2' });
        await kit.fill(4);
        const there = await kit.fill(2, THERE);
        const held = await kit.claim('maintenance', id);
        const first = kit.summary(1, 2, { text: 'they spoke of the walrus' });
        const second = kit.summary(3, 4, { text: 'they spoke of tea' });
        const upper = kit.summary(1, 4, { level: 1, text: 'walrus and tea' });
        await kit.compact(held, first);
        await kit.compact(held, second);
        await kit.condense(held, upper, [first.id, second.id]);
        await kit.compact(await kit.claim('maintenance', there.id), kit.summary(1, 1, { text: 'another walrus' }));
        expect((await find(id, 'walrus')).toSorted()).toEqual([first.id, upper.id].toSorted());
        expect(await find(there.id, 'tea')).toEqual([]);
        await store.transcript.redact(id, { externalIds: ['x2'], now: NOW });
        expect(await find(id, 'walrus')).toEqual([]);
        expect(await find(id, 'tea')).toEqual([second.id]);
      });
    });
  });
}
