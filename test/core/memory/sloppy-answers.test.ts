import { describe, expect, it } from 'vitest';
import { ada, bob, general, openWorld, type World } from './memory.world.ts';

const memoriesOf = async (world: World) => (await world.all(general)).map(({ text }) => text);

describe('what a model adds to a statement', () => {
  it.each([
    '[#1 | 2026-01-05 Mon 12:00 | Ada] Ada keeps twelve bees.',
    '- Ada keeps twelve bees.',
    '**Ada** keeps **twelve bees** (#1).',
    '* Ada keeps twelve bees [#1, #2].',
    'Ada keeps twelve bees (sources: #1, 2).',
  ])('is left out: %s', async (text) => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { key: general });
    await world.say('how nice', { by: bob, key: general });
    await world.learn([{ text, about: 'Ada' }], { key: general });
    expect(await world.all(general)).toMatchObject([{ text: 'Ada keeps twelve bees.', subjectId: ada.id }]);
  });

  it('makes no second memory of one statement', async () => {
    await using world = await openWorld();
    for (const seq of [1, 2]) {
      await world.say('I keep twelve bees', { key: general });
      const text = `Ada keeps twelve bees (#${seq})`;
      await world.learn([{ text, about: 'Ada', sources: [seq] }], { key: general, extractedUpto: seq - 1 });
    }
    expect(await memoriesOf(world)).toEqual(['Ada keeps twelve bees']);
  });

  it.each([
    ['I fixed the **loud** pump (#4711) today', 'Ada fixed the **loud** pump (#4711)'],
    ['I fixed ticket #4711 today', 'Ada fixed a ticket (#4711)'],
  ])('stays if the person wrote it: %s', async (said, text) => {
    await using world = await openWorld();
    await world.say(said, { key: general });
    await world.learn([{ text, about: 'Ada' }], { key: general });
    expect(await memoriesOf(world)).toEqual([text]);
  });
});

describe('a statement about "the user"', () => {
  const text = 'The user keeps twelve bees';

  it.each(['user', 'The user', 'me', 'Benutzer', 'пользователь', '用户'])('is about the speaker: %s', async (about) => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { key: general });
    await world.learn([{ text, about }], { key: general });
    expect(await world.all(general)).toMatchObject([{ subjectId: ada.id, trust: 'self', state: 'active' }]);
  });

  it('is not one about Ben, who is not here', async () => {
    await using world = await openWorld();
    await world.say('Ben keeps twelve bees', { key: general });
    await world.learn([{ text: 'Ben keeps twelve bees', about: 'Ben' }], { key: general });
    expect(await world.all(general)).toMatchObject([{ subjectId: null, subjectName: 'Ben' }]);
  });

  it('is about nobody if two people say it', async () => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { key: general });
    await world.say('I keep twelve bees', { by: bob, key: general });
    await world.learn([{ text, about: 'user', sources: [1, 2] }], { key: general });
    expect(await world.all(general)).toMatchObject([{ subjectId: null, subjectName: null, state: 'candidate' }]);
  });

  it('is about somebody else whom it names', async () => {
    await using world = await openWorld();
    await world.say('good morning', { by: bob, key: general });
    await world.say('Bob keeps twelve bees', { key: general });
    await world.learn([{ text: 'Bob keeps twelve bees', about: 'user', sources: [2] }], { key: general });
    expect(await world.all(general)).toMatchObject([{ subjectId: bob.id, trust: 'other', state: 'candidate' }]);
  });

  it('is about a person with that name', async () => {
    await using world = await openWorld();
    await world.say('good morning', { by: { id: 'u-7', name: 'User', kind: 'person' }, key: general });
    await world.say('I keep twelve bees', { key: general });
    await world.learn([{ text, about: 'User', sources: [2] }], { key: general });
    expect(await world.all(general)).toMatchObject([{ subjectId: 'u-7', trust: 'other', state: 'candidate' }]);
  });
});
