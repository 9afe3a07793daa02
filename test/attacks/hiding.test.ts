import { describe, expect, it } from 'vitest';
import { placeOf } from '../../src/domain/key.ts';
import type { Author } from '../../src/domain/message.ts';
import { createOptOut } from '../../src/memory/people/opt-out.ts';
import type { Requester } from '../../src/memory/rights/permissions.ts';
import { ada, bob, general, openWorld, type World } from '../core/memory/memory.world.ts';

const eve: Author = { id: 'u-eve', name: 'Eve', kind: 'person' };
const FACT = 'The release ships on Fridays';
const PUBLIC = { place: placeOf(general), audience: 'public' } as const;

function requester(world: World, author = eve, rights: Requester['rights'] = 'member') {
  return { reader: world.reader(general), author, rights };
}

/** Eve says it first, has it remembered, and returns the id. */
async function rememberedByEve(world: World, text = FACT) {
  await world.say(text, { by: eve, key: general });
  const result = await world.memories.add({ text, by: requester(world) });
  if (result.kind !== 'added') throw new Error(`it is ${result.kind}`);
  return result.memory.id;
}

/** Ada and Bob say the same, and the bot reads it. */
async function saidByOthers(world: World, text = FACT) {
  const source = await world.say(text, { by: ada, key: general });
  await world.say('good morning', { by: bob, key: general });
  return await world.admit([{ text, sources: [source.seq] }], { key: general });
}

describe('a member who says first what others will say', () => {
  it('cannot forget it for them', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    await world.forget({ kind: 'memories', ids: [id] }, requester(world));
    expect((await saidByOthers(world)).writes).toMatchObject([{ kind: 'insert' }]);
  });

  it('cannot reject it for them', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    await world.memories.move(id, 'reject', requester(world));
    expect((await saidByOthers(world)).writes).toMatchObject([{ kind: 'insert' }]);
  });

  it('cannot keep others from having it remembered', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    expect(await world.memories.add({ text: FACT, by: requester(world, bob) })).toMatchObject({ kind: 'added' });
    await world.forget({ kind: 'memories', ids: [id] }, requester(world));
    expect(await world.memories.add({ text: FACT, by: requester(world, ada) })).toMatchObject({ kind: 'added' });
    expect(await world.memories.add({ text: FACT, by: requester(world) })).toEqual({ kind: 'forgotten' });
  });

  it('does not get their words as support of their own', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    const { writes } = await saidByOthers(world);
    expect(writes).toMatchObject([{ kind: 'insert', memory: { subjectId: ada.id } }]);
    expect(writes).not.toMatchObject([{ id }]);
  });
});

describe('a statement about a person', () => {
  it.each(['Ada', null])('stays forgotten whoever repeats it, about %s', async (about) => {
    await using world = await openWorld();
    const source = await world.say('I keep bees in Kreuzberg', { key: general });
    const proposal = { text: 'Ada keeps bees in Kreuzberg', about: 'Ada', sources: [source.seq] };
    const { ids } = await world.learn([proposal], { key: general });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, requester(world, ada));
    const again = await world.say('Ada keeps bees in Kreuzberg', { by: bob, key: general });
    for (const shown of [{}, { entries: [again] }]) {
      const admission = { key: general, ...shown };
      const { writes, refused } = await world.admit([{ ...proposal, about, sources: [again.seq] }], admission);
      expect(writes).toEqual([]);
      expect(refused).toEqual([{ reason: 'it was forgotten here' }]);
    }
  });
});

describe('a person whose name somebody else has taken', () => {
  it('does not get back what they have forgotten', async () => {
    await using world = await openWorld();
    const source = await world.say('I keep bees in Kreuzberg', { key: general });
    const proposal = { text: 'Ada keeps bees in Kreuzberg', about: 'Ada', sources: [source.seq] };
    const { ids } = await world.learn([proposal], { key: general });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, requester(world, ada));
    await world.say('hi', { by: { ...eve, name: 'ada' }, key: general });
    const again = await world.say('Ada keeps bees in Kreuzberg', { by: bob, key: general });
    for (const shown of [{}, { entries: [again] }]) {
      const { refused } = await world.admit([{ ...proposal, sources: [again.seq] }], { key: general, ...shown });
      expect(refused).toEqual([{ reason: 'it was forgotten here' }]);
    }
  });
});

describe('a statement of a person', () => {
  it('does not come back where very many people talk', async () => {
    await using world = await openWorld();
    const people = Array.from({ length: 400 }, (_, index): Author => {
      return { id: `u${index}`, name: `Person${index}`, kind: 'person' };
    });
    for (let from = 0; from < people.length; from += 50) {
      await world.say('hello everybody', { key: general, mentions: people.slice(from, from + 50) });
    }
    const echo = await world.answer(
      `${FACT}. ${Array.from({ length: 60 }, (_, index) => `Boat ${index} sinks`).join('. ')}`,
      {
        key: general,
      },
    );
    const proposals = Array.from({ length: 60 }, (_, index) => ({ text: `Boat ${index} sinks`, sources: [echo.seq] }));
    const id = await rememberedByEve(world);
    await world.forget({ kind: 'memories', ids: [id] }, requester(world));
    const { refused } = await world.admit([...proposals, { text: FACT, sources: [echo.seq] }], { key: general });
    expect(refused).toContainEqual({ reason: 'it was forgotten here' });
  });

  it('does not come back from the words of the bot', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    await world.forget({ kind: 'memories', ids: [id] }, requester(world));
    await world.say('good morning', { by: eve, key: general });
    const echo = await world.answer(FACT, { key: general });
    const { refused } = await world.admit([{ text: FACT, sources: [echo.seq] }], { key: general });
    expect(refused).toEqual([{ reason: 'it was forgotten here' }]);
  });
});

describe('what many people have remembered', () => {
  it('is known to each of them', async () => {
    await using world = await openWorld();
    const people = Array.from({ length: 15 }, (_, index): Author => {
      return { id: `u${index}`, name: `Person${index}`, kind: 'person' };
    });
    const remember = (by: Author) => world.memories.add({ text: FACT, by: requester(world, by) });
    for (const person of people) expect(await remember(person)).toMatchObject({ kind: 'added' });
    for (const person of people)
      expect(await remember(person)).toMatchObject({ kind: 'known', memory: { subjectId: person.id } });
  });
});

describe('what a moderator decides', () => {
  it('is forgotten for everybody', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    await world.forget({ kind: 'memories', ids: [id] }, requester(world, bob, 'moderator'));
    expect((await saidByOthers(world)).refused).toEqual([{ reason: 'it was forgotten here' }]);
    expect(await world.memories.add({ text: FACT, by: requester(world, ada) })).toEqual({ kind: 'forgotten' });
  });

  it('is wrong for everybody', async () => {
    await using world = await openWorld();
    const id = await rememberedByEve(world);
    await world.memories.move(id, 'reject', requester(world, bob, 'moderator'));
    expect((await saidByOthers(world)).refused).toEqual([{ reason: 'a person marked it as wrong' }]);
    const again = await world.memories.add({ text: FACT, by: requester(world, ada) });
    expect(again).toMatchObject({ kind: 'known', memory: { id, state: 'rejected' } });
  });

  it.each(['after', 'before'])('is wrong even if many had it remembered %s it', async (when) => {
    await using world = await openWorld();
    const rememberedByMany = async () => {
      for (let index = 0; index < 60; index += 1) await world.plant(FACT, { ...PUBLIC, subjectId: `u${index}` });
    };
    if (when === 'before') await rememberedByMany();
    const id = await rememberedByEve(world);
    await world.memories.move(id, 'reject', requester(world, bob, 'moderator'));
    if (when === 'after') await rememberedByMany();
    expect((await saidByOthers(world, 'On Fridays the release ships')).refused).toEqual([
      { reason: 'a person marked it as wrong' },
    ]);
  });
});

describe('a member who paused learning', () => {
  it.each(['likes', 'Likes', 'is', 'Is', 'that is', 'That Is', 'Bob'])(
    'does not silence others by the name %s',
    async (name) => {
      await using world = await openWorld();
      const conversation = general;
      await createOptOut(world.state).pause({ conversation, authorId: eve.id, name }, 0);
      const source = await world.say('I like tea, and it is green', { by: bob, key: general });
      const proposal = { text: 'Bob likes tea that is green', about: 'Bob', sources: [source.seq] };
      expect((await world.admit([proposal], { key: general })).writes).toHaveLength(1);
      expect(await world.memories.add({ text: 'It is raining', by: requester(world, bob) })).toMatchObject({
        kind: 'added',
      });
    },
  );

  it.each([
    ['Release', 'The release ships on Fridays'],
    ['budget', 'Our budget is 4,000 euros'],
    ['Bud\u0433et', 'Our bud\u0433et is 4,000 euros'],
    ['Sprint Review', 'Every sprint review takes an hour'],
    ['Frist', 'Unsere Frist endet im Mai'],
  ])('does not hide what an ordinary word means, as %s', async (name, text) => {
    await using world = await openWorld();
    await createOptOut(world.state).pause({ conversation: general, authorId: eve.id, name }, 0);
    const source = await world.say(text, { by: bob, key: general });
    expect((await world.admit([{ text, about: null, sources: [source.seq] }], { key: general })).writes).toHaveLength(
      1,
    );
    expect(await world.memories.add({ text, by: requester(world, ada) })).toMatchObject({ kind: 'added' });
  });

  it('does not keep a namesake from correcting their own', async () => {
    await using world = await openWorld();
    await createOptOut(world.state).pause({ conversation: general, authorId: eve.id, name: bob.name }, 0);
    const added = await world.memories.add({ text: 'Bob rows on Sundays', by: requester(world, bob) });
    const id = added.kind === 'forgotten' ? '' : added.memory.id;
    const edited = await world.memories.edit(id, { text: 'Bob rows on Mondays' }, requester(world, bob));
    expect(edited.text).toBe('Bob rows on Mondays');
  });

  it.each([
    ['Will', 'Bob married Will in May'],
    ['Will', 'Will lives in Riga'],
    ['ada', 'Bob married Ada in May'],
    ['Release', 'Bob married Release in May'],
    ['Ada', 'Bob knows that Ada sings badly'],
    ['Ada', 'bob knows that ada sings badly'],
    ['Ada', 'Our Ada sings badly'],
    ['will smith', 'the will of bob names will smith'],
  ])('is still named by %s: %s', async (name, text) => {
    await using world = await openWorld();
    await createOptOut(world.state).pause({ conversation: general, authorId: eve.id, name }, 0);
    const source = await world.say(text, { by: bob, key: general });
    const about = text.startsWith('Will') ? 'Will' : null;
    expect((await world.admit([{ text, about, sources: [source.seq] }], { key: general })).writes).toEqual([]);
  });
});
