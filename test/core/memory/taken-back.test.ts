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
    ['Ada aime le jazz et le thé', 'Ada n’aime pas le jazz et le thé'],
    ['Ada does not eat meat with her lunch at work', 'Ada eats meat with her lunch at work on Fridays'],
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
    ['Ada drives her old car to work every day', 'Ada does not drive her old car to work every day in winter'],
    ['Ada speaks German and French', 'Ada speaks not only German but also French'],
    ['Ada eats cheese', 'Ada eats nothing but cheese'],
    ['Ada walks 5 km every day', 'Ada walks no less than 5 km every day'],
    ['Ada travels with her laptop', 'Ada never travels without her laptop'],
    ['Ada smokes', 'Ada never stopped smoking'],
    ['Ada is in Ghent', 'Ada stopped in Ghent'],
    ['Ada spricht Deutsch', 'Ada spricht nicht nur Deutsch'],
    ['Ada boit du thé', 'Ada ne boit que du thé'],
    ['Ada每天早上在公司楼下喝甜的咖啡', 'Ada每天早上在公司楼下喝非常甜的咖啡'],
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

it.each([
  ['Ada never smokes', 'Ada does not smoke'],
  ['Ada woont en werkt graag in Gent bij de haven', 'Ada woont graag in Gent bij de haven'],
])('two texts deny nothing: %s, %s', (one, other) => {
  expect(isDenial(one, other)).toBe(false);
});
