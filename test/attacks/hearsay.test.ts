import { describe, expect, it } from 'vitest';
import { makeKey } from '../../src/domain/key.ts';
import type { Author } from '../../src/domain/message.ts';
import { ada, bob, DAY, general, openWorld, type World } from '../core/memory/memory.world.ts';

const carol: Author = { id: 'u-carol', name: 'Carol', kind: 'person' };
const feed: Author = { id: 'u-feed', name: 'Feed', kind: 'bot' };
const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't1' });
const PLANTED = 'Ada steals apples from the market';

/** Somebody says it, and the bot reads it there. */
async function claim(world: World, by = bob, { key = general, text = PLANTED, about = 'Ada' } = {}) {
  const said = await world.say(text, { by, key });
  return await world.learn([{ text, about, sources: [said.seq] }], { key, entries: [said] });
}

async function stateOf(world: World) {
  const [memory] = await world.all(general);
  return memory?.state;
}

async function claimed() {
  const world = await openWorld();
  await world.say('hello', { key: general });
  await claim(world);
  return world;
}

describe('what one person says about another', () => {
  it.each(['in another thread', 'on another day'])('is not believed when repeated %s', async (where) => {
    await using world = await claimed();
    if (where === 'on another day') world.time.now += DAY;
    await claim(world, bob, where === 'on another day' ? {} : { key: thread });
    expect(await stateOf(world)).toBe('candidate');
  });

  it.each([
    ['repeats it', [bob, feed]],
    ['has said it first', [feed, bob]],
    ['has repeated it', [bob, feed, bob]],
  ])('is not believed when their webhook %s', async (_when, speakers) => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    for (const by of speakers) {
      await claim(world, by);
      world.time.now += DAY;
    }
    expect(await stateOf(world)).toBe('candidate');
  });

  it('is not believed about a name that two people have', async () => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    await world.say('hi', { by: { ...carol, name: 'Ada' }, key: general });
    await claim(world);
    world.time.now += DAY;
    await claim(world);
    expect(await stateOf(world)).toBe('candidate');
  });

  it.each([
    ['somebody else says it too', carol],
    ['the person says it', ada],
  ])('is believed when %s', async (_who, by) => {
    await using world = await claimed();
    world.time.now += DAY;
    await claim(world, by);
    expect(await stateOf(world)).toBe('active');
  });
});

it('what namesakes say about themselves is believed when repeated', async () => {
  await using world = await openWorld();
  await world.say('hello', { by: { ...carol, name: 'Ada' }, key: general });
  const own = { text: 'Ada sells apples on the market', about: 'Ada' };
  await claim(world, ada, own);
  expect(await stateOf(world)).toBe('candidate');
  world.time.now += DAY;
  await claim(world, ada, own);
  expect(await stateOf(world)).toBe('active');
});

it('what one person repeats about a thing is believed', async () => {
  await using world = await openWorld();
  await world.say('hello', { key: general });
  const cellar = { text: 'The cellar is locked at nine', about: 'the cellar' };
  await claim(world, bob, cellar);
  expect(await stateOf(world)).toBe('candidate');
  world.time.now += DAY;
  await claim(world, bob, cellar);
  expect(await stateOf(world)).toBe('active');
});
