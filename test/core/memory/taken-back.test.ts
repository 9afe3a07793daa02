import { describe, expect, it } from 'vitest';
import { isDenial } from '../../../src/memory/statements/fingerprint.ts';
import { ada, bob, DAY, general, openWorld, type World } from './memory.world.ts';

/** Somebody says it a day later, and a model writes it down without naming what it makes untrue. */
async function learn(world: World, text: string, by = ada) {
  world.time.now += DAY;
  const { seq } = await world.say(text, { by, key: general });
  await world.learn([{ text, about: ada.name, sources: [seq] }], { key: general, extractedUpto: seq - 1 });
}

async function activeIn(world: World) {
  return (await world.all(general)).filter(({ state }) => state === 'active').map(({ text }) => text);
}

describe('a statement that its speaker takes back', () => {
  it.each([
    ['Ada likes olives', 'Ada does not like olives any more'],
    ['Ada works at Acme', 'Ada no longer works at Acme'],
    ['Ada never eats meat', 'Ada eats meat'],
    ['Ada mag Oliven', 'Ada mag keine Oliven mehr'],
    ['Ada fume', 'Ada ne fume plus'],
    ['Ada курит', 'Ada больше не курит'],
    ['Ada喝咖啡', 'Ada不喝咖啡'],
    ['Ada moved to Bruges', 'Ada moved back to Ghent'],
  ])('is outdated: %s', async (before, after) => {
    await using world = await openWorld();
    await learn(world, before);
    await learn(world, after);
    expect(await activeIn(world)).toEqual([after]);
  });

  it.each([
    ['Ada likes tea', 'Ada likes tea without sugar'],
    ['Ada eats meat', 'Ada eats no meat on Fridays'],
    ['Ada met Cynthia', 'Ada never met Bob'],
    ['Ada owns the red boat', 'Ada does not own the white boat'],
  ])('stays beside another one: %s', async (before, after) => {
    await using world = await openWorld();
    await learn(world, before);
    await learn(world, after);
    expect(await activeIn(world)).toEqual([after, before]);
  });

  it('stays if somebody else denies it', async () => {
    await using world = await openWorld();
    await learn(world, 'Ada likes olives');
    await learn(world, 'Ada does not like olives', bob);
    expect(await activeIn(world)).toEqual(['Ada likes olives']);
  });
});

it('two denials deny nothing', () => {
  expect(isDenial('Ada never smokes', 'Ada does not smoke')).toBe(false);
});
