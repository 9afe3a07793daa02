import { describe, expect, it } from 'vitest';
import { type Author, makeKey, placeOf, textOf } from '../../../src/adapter-kit.ts';
import { ada, bob, general, openWorld, type World } from './memory.world.ts';

const carol: Author = { id: 'u-carol', name: 'Carol', kind: 'person' };
const HELD = '(held back)';
const as = (world: World, author = ada, rights: 'member' | 'moderator' = 'member') => {
  return { reader: world.reader(general), author, rights };
};
const about = ({ id, name }: Author) => {
  return { place: placeOf(general), audience: 'public', subjectId: id, subjectName: name } as const;
};

async function texts(world: World, key = general): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation(key);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.map((entry) => textOf(entry.parts).replace(/\(held back: \w+\)/u, HELD));
}

describe('a message of somebody else', () => {
  it('stays if the memory is about a third person', async () => {
    await using world = await openWorld();
    await world.say('Bob keeps twelve bees', { key: general });
    await world.say('hi', { by: bob, key: general });
    await world.say('Bob keeps twelve bees', { by: carol, key: general });
    const id = await world.plant('Bob keeps twelve bees', about(bob), [1]);
    await world.forget({ kind: 'memories', ids: [id] }, as(world));
    expect(await texts(world)).toEqual(['', 'hi', 'Bob keeps twelve bees']);
  });

  it('loses of a source only the sentence that says it', async () => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    await world.say('Ada likes chess. Ada must avoid peanuts.', { by: bob, key: general });
    const id = await world.plant('Ada is allergic to peanuts', about(ada), [2]);
    await world.forget({ kind: 'memories', ids: [id] }, as(world));
    expect(await texts(world)).toEqual(['hello', `Ada likes chess. ${HELD}`]);
  });

  it('loses sentences about the person in another language', async () => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    await world.say('Heute regnet es. Ada verträgt keine Erdnüsse.', { by: bob, key: general });
    const id = await world.plant('Ada is allergic to peanuts', about(ada), [2]);
    await world.forget({ kind: 'memories', ids: [id] }, as(world));
    expect(await texts(world)).toEqual(['hello', `Heute regnet es. ${HELD}`]);
  });

  it.each([
    [
      'half of the words and her code',
      'The locker of Ada in the hall has code 77120',
      'Ada opens any locker by 77120.',
    ],
    ['half of the words and a name', 'The locker of Ada in the hall was bought from Ikea', 'Ada got a locker at Ikea.'],
    ['most of the words', 'The locker of Ada in the hall has a blue door', 'Ada has a hall locker, its door is new.'],
  ])('loses a sentence with %s', async (_what, text, said) => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    await world.say(`Good morning. ${said}`, { by: bob, key: general });
    await world.say('Ada has a locker in that hall. Ada typed 77120.', { by: bob, key: general });
    const id = await world.plant(text, about(ada));
    await world.forget({ kind: 'memories', ids: [id] }, as(world));
    expect(await texts(world)).toEqual([
      'hello',
      `Good morning. ${HELD}`,
      'Ada has a locker in that hall. Ada typed 77120.',
    ]);
  });

  it('is deleted whole or in part, not both', async () => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    await world.say('Ada keeps twelve bees', { by: bob, key: general });
    const id = await world.plant('Ada keeps twelve bees', about(ada), [2]);
    const done = await world.forget({ kind: 'memories', ids: [id] }, as(world, carol, 'moderator'));
    expect(done).toMatchObject({ messages: 1, sentences: 0 });
  });
});

it('a source that says something else stays', async () => {
  await using world = await openWorld();
  await world.say('I keep twelve bees', { key: general });
  await world.say('the weather is fine', { key: general });
  const id = await world.plant('Ada keeps twelve bees', about(ada), [1, 2]);
  await world.forget({ kind: 'memories', ids: [id] }, as(world));
  expect(await texts(world)).toEqual(['', 'the weather is fine']);
});

it('what the bot said before stays', async () => {
  await using world = await openWorld();
  const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });
  const before = 'Ada keeps twelve bees.';
  await world.answer(before, { key: general });
  await world.answer(before, { key: thread });
  world.time.now += 1000;
  await world.say('I keep twelve bees', { key: general });
  const { ids } = await world.learn([{ text: 'Ada keeps twelve bees', about: 'Ada', sources: [2] }], { key: general });
  await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, as(world));
  expect([await texts(world), await texts(world, thread)]).toEqual([[before, ''], [before]]);
});

it('what the bot has from somebody else stays', async () => {
  await using world = await openWorld();
  const said = 'The cellar door has code 77120';
  await world.say(said, { by: bob, key: general });
  await world.say(said, { key: general });
  await world.answer(`${said}.`, { key: general });
  const id = await world.plant(said, { place: placeOf(general), audience: 'public' }, [2]);
  await world.forget({ kind: 'memories', ids: [id] }, as(world));
  expect(await texts(world)).toEqual([said, '', `${said}.`]);
});
