import { expect, it } from 'vitest';
import { dropErasures, isErased, noteErasure } from '../../../src/conversation/inbound/erased.ts';
import { general, openWorld, type World } from '../memory/memory.world.ts';

const SECOND = 1_000;

/** Messages at 0, 20 and 10 seconds; the conversation is erased at 60. */
async function erased(world: World) {
  const start = world.time.now;
  for (const seconds of [0, 20, 10]) {
    world.time.now = start + seconds * SECOND;
    await world.say(`at ${seconds}`, { key: general, externalId: `x${seconds}` });
  }
  world.time.now = start + 60 * SECOND;
  await noteErasure(world, await world.conversation(general));
  return (externalId: string, seconds: number) =>
    isErased(world, { conversation: general, externalId, at: start + seconds * SECOND });
}

it('covers all messages until the newest one', async () => {
  await using world = await openWorld();
  const isGone = await erased(world);
  expect(await Promise.all([isGone('x0', 0), isGone('missed', 15), isGone('x20', 20)])).toEqual([true, true, true]);
  expect(await Promise.all([isGone('same time', 20), isGone('later', 21)])).toEqual([false, false]);
});

it('covers nothing after the clock was set back', async () => {
  await using world = await openWorld();
  const isGone = await erased(world);
  world.time.now -= 45 * SECOND;
  expect(await isGone('new', 14)).toBe(false);
});

it('is forgotten with its workspace', async () => {
  await using world = await openWorld();
  const isGone = await erased(world);
  await dropErasures(world, 'test:other');
  expect(await isGone('x0', 0)).toBe(true);
  await dropErasures(world, 'test:w');
  expect(await isGone('x0', 0)).toBe(false);
});
