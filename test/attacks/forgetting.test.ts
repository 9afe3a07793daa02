import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Author, type ConversationKey, makeKey, textOf } from '../../src/adapter-kit.ts';
import { isOnlyAbout, sentencesOf } from '../../src/memory/people/about-person.ts';
import type { Requester } from '../../src/memory/rights/permissions.ts';
import { ada, bob, general, openWorld, type World } from '../core/memory/memory.world.ts';
import { SIZED, sized, sizedLimitMs } from '../support/size.ts';

const mallory: Author = { id: 'u-mal', name: 'Mallory', kind: 'person' };

function as(world: World, author: Author, rights: Requester['rights'] = 'member', key = general): Requester {
  return { reader: world.reader(key), author, rights };
}

async function texts(world: World, key: ConversationKey = general): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation(key);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.map((entry) => textOf(entry.parts));
}

async function remembered(world: World, text: string, by: Requester): Promise<string> {
  const added = await world.memories.add({ text, by });
  if (added.kind === 'forgotten') throw new Error('it was forgotten before');
  return added.memory.id;
}

describe('a member who forgets', () => {
  it('deletes nothing of others by shared codes', async () => {
    await using world = await openWorld();
    const codes = ['77120', '4010', '4011', '4012'];
    for (const [index, code] of codes.entries()) {
      await world.say(`The door code of floor ${index} is ${code}`, { by: bob, key: general });
      await world.answer(`Noted: floor ${index} has ${code}.`, { key: general });
    }
    const before = await texts(world);
    const id = await remembered(world, codes.join(' '), as(world, mallory));
    await world.forget({ kind: 'memories', ids: [id] }, as(world, mallory));
    expect(await texts(world)).toEqual(before);
  });

  it('deletes nothing of others by shared words', async () => {
    await using world = await openWorld();
    await world.say('The release is on Friday at noon', { by: bob, key: general });
    const before = await texts(world);
    const id = await remembered(world, 'The release is on Friday at noon', as(world, mallory));
    await world.forget({ kind: 'memories', ids: [id] }, as(world, mallory));
    expect(await texts(world)).toEqual(before);
  });

  it('cannot take sentences by taking a name afterwards', async () => {
    await using world = await openWorld();
    await world.say('Release moves to Friday.', { by: bob, key: general });
    const release = { ...mallory, name: 'Release' };
    await world.say('hello', { by: release, key: general });
    const before = await texts(world);
    const id = await remembered(world, 'Release moves to Friday', as(world, release));
    await world.forget({ kind: 'memories', ids: [id] }, as(world, release));
    expect(await texts(world)).toEqual(before);
  });

  it.each([
    ['The release was late last time.', 'Release', 'Release moves to Friday.'],
    ['Wir haben keine Datenbank.', 'Datenbank', 'Datenbank zieht um.'],
    ['Quand aura lieu cette réunion ?', 'Réunion', 'Réunion annulée.'],
    ['our next deploy day is far', 'deploy day', 'Deploy day moves to Monday.'],
    ['Everybody knows that is the lunch', 'Lunch', 'The lunch is at noon.'],
  ])('cannot take sentences by the name of a thing: %s', async (before, name, said) => {
    await using world = await openWorld();
    const thing = { ...mallory, name };
    await world.say('hello', { by: thing, key: general });
    await world.say(before, { by: bob, key: general });
    await world.say(said, { by: bob, key: general });
    const id = await remembered(world, said, as(world, thing));
    await world.forget({ kind: 'memories', ids: [id] }, as(world, thing));
    expect(await texts(world)).toEqual(['hello', before, said]);
  });

  it('cannot take sentences by changing to a known word', async () => {
    await using world = await openWorld();
    await world.say('hello', { by: mallory, key: general });
    await world.say('Falcon is down again', { by: bob, key: general });
    world.time.now += 1000;
    const falcon = { ...mallory, name: 'Falcon' };
    await world.say('hello again', { by: falcon, key: general });
    await world.say('Falcon is back since noon', { by: bob, key: general });
    const before = await texts(world);
    const id = await remembered(world, 'Falcon is back since noon', as(world, falcon));
    await world.forget({ kind: 'memories', ids: [id] }, as(world, falcon));
    expect(await texts(world)).toEqual(before);
  });

  it('keeps the right to their own name after a change', async () => {
    await using world = await openWorld();
    await world.say('hello', { by: { ...ada, name: 'ada_l' }, key: general });
    await world.say('Ada joined us', { by: bob, key: general });
    world.time.now += 1000;
    await world.say('I am allergic to peanuts', { key: general });
    await world.say('Ada is allergic to peanuts!', { by: bob, key: general });
    const { ids } = await world.learn([{ text: 'Ada is allergic to peanuts', about: 'Ada', sources: [3] }], {
      key: general,
    });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, as(world, ada));
    expect((await texts(world))[3]).toMatch(/held back/);
  });

  it('forgets what they said about others, not what others said', async () => {
    await using world = await openWorld();
    await world.say('Bob keeps bees', { key: general });
    await world.say('I keep bees, yes', { by: bob, key: general });
    const { ids } = await world.learn([{ text: 'Bob keeps bees', about: 'Bob', sources: [1] }], { key: general });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, as(world, ada));
    expect(await texts(world)).toEqual(['', 'I keep bees, yes']);
  });

  it('forgets their messages by number, and no others', async () => {
    await using world = await openWorld();
    await world.say('my tan is 889900', { key: general });
    await world.answer('Your TAN 889900 is noted.', { key: general });
    await world.say('lunch?', { by: bob, key: general });
    const target = (seq: number) => ({ kind: 'messages', conversation: general, seqs: [seq] }) as const;
    await expect(world.forget(target(3), as(world, ada))).rejects.toThrow(/is for/);
    await expect(world.forget(target(2), as(world, ada))).rejects.toThrow(/is for/);
    await world.forget(target(1), as(world, ada));
    expect(await texts(world)).toEqual(['', '', 'lunch?']);
    await world.forget(target(3), as(world, ada, 'moderator'));
    expect(await texts(world)).toEqual(['', '', '']);
  });
});

describe('a sentence about the person who forgets', () => {
  async function told(world: World) {
    await world.say('I am allergic to peanuts', { key: general });
    await world.say('Bring cake. Ada is allergic to peanuts! See you at 5.', { by: bob, key: general });
    const { ids } = await world.learn([{ text: 'Ada is allergic to peanuts', about: 'Ada' }], { key: general });
    return ids[0] ?? '';
  }

  it('is withheld while the rest of the message stays', async () => {
    await using world = await openWorld();
    const preview = await world.memories.previewForget({ kind: 'memories', ids: [await told(world)] }, as(world, ada));
    expect(preview.sentences).toMatchObject([{ kind: 'hold', text: 'Ada is allergic to peanuts!' }]);
    await world.memories.forget(preview);
    expect((await texts(world))[1]).toMatch(/^Bring cake\. \(held back: \w+\) See you at 5\.$/);
    const { id } = await world.conversation(general);
    expect(await world.search.entries({ conversationId: id, text: 'peanuts allergic', limit: 9 })).toEqual([]);
  });

  it('waits for moderators, who see and release it', async () => {
    await using world = await openWorld();
    const id = await told(world);
    const before = (await texts(world))[1];
    await world.forget({ kind: 'memories', ids: [id] }, as(world, ada));
    await expect(world.memories.held(as(world, ada))).rejects.toThrow(/is for/);
    const [held] = await world.memories.held(as(world, bob, 'moderator'));
    expect(held).toMatchObject({ text: 'Ada is allergic to peanuts!', author: bob, about: { id: ada.id }, seq: 2 });
    await world.memories.decideHeld(held?.id ?? '', 'release', as(world, bob, 'moderator'));
    expect((await texts(world))[1]).toBe(before);
    expect(await world.memories.held(as(world, bob, 'moderator'))).toEqual([]);
  });

  it('is deleted when a moderator says so', async () => {
    await using world = await openWorld();
    await world.forget({ kind: 'memories', ids: [await told(world)] }, as(world, ada));
    const [held] = await world.memories.held(as(world, bob, 'moderator'));
    await expect(world.memories.decideHeld(held?.id ?? '', 'strike', as(world, ada))).rejects.toThrow(/is for/);
    await world.memories.decideHeld(held?.id ?? '', 'strike', as(world, bob, 'moderator'));
    expect((await texts(world))[1]).toBe('Bring cake. (removed) See you at 5.');
    expect(await world.memories.held(as(world, bob, 'moderator'))).toEqual([]);
  });

  it('stays withheld when its author edits the message', async () => {
    await using world = await openWorld();
    await world.forget({ kind: 'memories', ids: [await told(world)] }, as(world, ada));
    const { id } = await world.conversation(general);
    const edit = (text: string) =>
      world.store.transcript.edit(id, {
        externalId: 'm2',
        parts: [{ kind: 'text', text }],
        tokens: 9,
        now: world.time.now,
      });
    await edit('Bring two cakes. Ada is allergic to peanuts! See you at 5.');
    expect((await texts(world))[1]).toMatch(/^Bring two cakes\. \(held back: \w+\) See you at 5\.$/);
    for (const said of [
      'ADA is allergic to peanuts!!',
      'Ada is\u200b allergic   to peanuts.',
      '*Ada* is allergic, to peanuts…',
    ]) {
      await edit(`Bring two cakes. ${said} See you at 5.`);
      expect((await texts(world))[1]).toMatch(/^Bring two cakes\. \(held back: \w+\) ?See you at 5\.$/);
    }
    await edit('Bring two cakes.');
    expect((await texts(world))[1]).toBe('Bring two cakes.');
    expect(await world.memories.held(as(world, bob, 'moderator'))).toEqual([]);
  });

  it('is deleted at once when a moderator forgets', async () => {
    await using world = await openWorld();
    await world.forget({ kind: 'memories', ids: [await told(world)] }, as(world, mallory, 'moderator'));
    expect((await texts(world))[1]).toBe('Bring cake. (removed) See you at 5.');
  });

  it('stays deleted when a preview or edit changes the rest', async () => {
    await using world = await openWorld();
    await world.forget({ kind: 'memories', ids: [await told(world)] }, as(world, mallory, 'moderator'));
    const { id } = await world.conversation(general);
    for (const [cake, said] of [
      ['cake', 'Ada is allergic to peanuts!'],
      ['two cakes', 'ADA is allergic to  peanuts.'],
    ]) {
      const parts = [{ kind: 'text', text: `Bring ${cake}. ${said} See you at 5.` } as const];
      await world.store.transcript.edit(id, { externalId: 'm2', parts, tokens: 9, now: world.time.now });
      expect((await texts(world))[1]).toBe(`Bring ${cake}. (removed) See you at 5.`);
    }
  });
});

describe('whom a sentence is about', () => {
  const naming = { names: ['Ada'], others: ['Bob', 'Carol Ng'] };

  it('is read from names, speakers and coordination', () => {
    const said: readonly (readonly [string, boolean])[] = [
      ['Ada is allergic to peanuts', true],
      ["Ada's code is 4711.", true],
      ['I think Ada lives in Lisbon', true],
      ['I saw Ada with my brother', false],
      ['Ada and Dora are married', false],
      ['Bob and Ada are married', false],
      ['Carol Ng knows Ada', false],
      ['Adam is allergic', false],
      ['The code is 4711', false],
      ['Ada hat mich besucht', false],
    ];
    for (const [sentence, expected] of said) expect(isOnlyAbout(sentence, naming), sentence).toBe(expected);
  });

  it('keeps every sentence exactly as written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const sentences = sentencesOf(text);
        expect(sentences.every((sentence) => text.includes(sentence))).toBe(true);
        expect(sentences.join('').replace(/\s/gu, '')).toBe(text.replace(/\s/gu, ''));
      }),
    );
  });
});

const NAMES = ['Ada', 'Bob', 'Carol', 'Dan'];
const WORDS = ['77120', '4010', 'release', 'friday', 'door', 'code', 'tea', 'is', 'the', 'Ada', 'Bob', 'I', 'likes'];

interface Cast {
  readonly lines: readonly { readonly by: number; readonly text: string }[];
  readonly wish: string;
  readonly asker: number;
}

const cast: fc.Arbitrary<Cast> = fc.record({
  lines: fc.array(
    fc.record({
      by: fc.nat({ max: NAMES.length }),
      text: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 7 }).map((words) => words.join(' ')),
    }),
    { minLength: 2, maxLength: 8 },
  ),
  wish: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' ')),
  asker: fc.nat({ max: NAMES.length - 1 }),
});

const CASTS = sized({ small: 800, full: 2_000 });

describe('over random casts', () => {
  // Shows: I14
  it('touches no message of another person in any plan', { ...SIZED, timeout: sizedLimitMs(400_000) }, async () => {
    await using world = await openWorld();
    const author = (index: number): Author => ({ id: `u${index}`, name: NAMES[index] ?? '', kind: 'person' });
    const plays = fc.sample(cast, { numRuns: CASTS, seed: 20_261_122 });
    let held = 0;
    let deleted = 0;
    const play = async ({ lines, wish, asker }: Cast, index: number) => {
      const key = makeKey({ platform: 'test', workspace: 'w', channel: `cast-${index}` });
      for (const { by, text } of lines) {
        if (by === NAMES.length) await world.answer(text, { key });
        else await world.say(text, { key, by: author(by) });
      }
      const by = as(world, author(asker), 'member', key);
      const added = await world.memories.add({ text: wish, by });
      if (added.kind !== 'added') throw new Error('the place is new');
      const preview = await world.memories.previewForget({ kind: 'memories', ids: [added.memory.id] }, by);
      for (const { entry } of preview.messages) {
        deleted += 1;
        expect([null, by.author.id]).toContain(entry.author?.id ?? null);
      }
      for (const { entry, text, kind, about } of preview.sentences) {
        held += 1;
        expect(kind).toBe('hold');
        expect(about.id).toBe(by.author.id);
        expect(entry.author?.id).not.toBe(by.author.id);
        const words = text.toLowerCase().split(' ');
        expect(words).toContain(by.author.name.toLowerCase());
        const others = NAMES.filter((name) => name !== by.author.name && lines.some((line) => NAMES[line.by] === name));
        for (const name of others) expect(words).not.toContain(name.toLowerCase());
      }
    };
    for (let from = 0; from < plays.length; from += 100) {
      await Promise.all(plays.slice(from, from + 100).map((one, offset) => play(one, from + offset)));
    }
    expect(held).toBeGreaterThan(0);
    expect(deleted).toBeGreaterThan(CASTS / 100);
  });
});
