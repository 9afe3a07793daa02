import { expect, it } from 'vitest';
import { createOptOut } from '../../../src/memory/people/opt-out.ts';
import { ada, bob, general, openWorld, type World } from './memory.world.ts';

const MINUTE = 60_000;
const person = { conversation: general, authorId: ada.id, name: ada.name };

const after = (world: World, minutes: number) => {
  world.time.now += minutes * MINUTE;
  return world.time.now;
};
const pause = (world: World) => createOptOut(world.state).pause(person, after(world, 1));
const resume = (world: World) => createOptOut(world.state).resume(person, after(world, 1));
const say = (world: World, text: string, by = ada) => {
  after(world, 1);
  return world.say(text, { key: general, by });
};

async function learned(world: World, seqs: readonly number[], text = 'Ada collects stamps from Peru') {
  const { writes } = await world.admit([{ text, about: 'Ada', sources: [...seqs] }], { key: general });
  return writes.length;
}

it('what a person says while learning is paused stays unlearned', async () => {
  await using world = await openWorld();
  await say(world, 'I collect stamps from Peru');
  await pause(world);
  await say(world, 'I collect stamps from Peru');
  await say(world, 'Ada collects stamps from Peru', bob);
  await resume(world);
  await say(world, 'I collect stamps from Peru');
  expect(await learned(world, [2])).toBe(0);
  expect(await learned(world, [3])).toBe(0);
  expect(await learned(world, [1, 2])).toBe(0);
  expect(await learned(world, [1])).toBe(1);
  expect(await learned(world, [4])).toBe(1);
});

it('what others say about themselves meanwhile is learned', async () => {
  await using world = await openWorld();
  await pause(world);
  await say(world, 'I breed goats in Nepal', bob);
  await resume(world);
  const { writes } = await world.admit([{ text: 'Bob breeds goats in Nepal', about: 'Bob' }], { key: general });
  expect(writes).toHaveLength(1);
});

it('an edit from that time stays unlearned', async () => {
  await using world = await openWorld();
  const { externalId } = await say(world, 'Never mind');
  await pause(world);
  const { id } = await world.conversation(general);
  const parts = [{ kind: 'text', text: 'I collect stamps from Peru' }] as const;
  await world.store.transcript.edit(id, { externalId: externalId ?? '', parts, tokens: 9, now: after(world, 1) });
  await resume(world);
  expect(await learned(world, [1])).toBe(0);
});

it('pausing twice keeps the first beginning', async () => {
  await using world = await openWorld();
  await pause(world);
  await say(world, 'I collect stamps from Peru');
  await pause(world);
  await resume(world);
  await pause(world);
  await resume(world);
  expect(await learned(world, [1])).toBe(0);
});

it('past pauses leave with the workspace', async () => {
  await using world = await openWorld();
  const optOut = createOptOut(world.state);
  await pause(world);
  await say(world, 'I collect stamps from Peru');
  await resume(world);
  await optOut.purge('test:w');
  expect(await learned(world, [1])).toBe(1);
});

it('a pause counts although the clock was set back meanwhile', async () => {
  await using world = await openWorld();
  after(world, 60);
  await pause(world);
  after(world, -50);
  await say(world, 'I collect stamps from Peru');
  await resume(world);
  expect(await learned(world, [1])).toBe(0);
});
