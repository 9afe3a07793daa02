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

  it('stays if the person wrote it', async () => {
    await using world = await openWorld();
    await world.say('I fixed the **loud** pump (#4711) today', { key: general });
    const text = 'Ada fixed the **loud** pump (#4711)';
    await world.learn([{ text, about: 'Ada' }], { key: general });
    expect(await memoriesOf(world)).toEqual([text]);
  });
});
