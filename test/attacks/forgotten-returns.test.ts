import { expect, it } from 'vitest';
import type { Author } from '../../src/adapter-kit.ts';
import { ada, bob, general, openWorld, type World } from '../core/memory/memory.world.ts';

const namesake: Author = { id: 'u-ada-2', name: 'Ada', kind: 'person' };
const TEXT = 'Ada hates pears';
const requester = (world: World, author: Author) => {
  return { reader: world.reader(general), author, rights: 'member' as const };
};

/** Ada has forgotten it as a member, so it is forgotten about her and not for everybody. */
async function forgotten() {
  const world = await openWorld();
  await world.say('I hate pears', { key: general });
  const { ids } = await world.learn([{ text: TEXT, about: 'Ada' }], { key: general });
  await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, requester(world, ada));
  return world;
}

it('does not come back by an edit of somebody else', async () => {
  await using world = await forgotten();
  const added = await world.memories.add({ text: 'I like plums', by: requester(world, bob) });
  const id = added.kind === 'forgotten' ? '' : added.memory.id;
  const edit = world.memories.edit(id, { text: TEXT }, requester(world, bob));
  await expect(edit).rejects.toThrowError(/forgotten here before/);
});

it.each([
  ['a namesake is present', namesake],
  ['she has another name', { ...ada, name: 'Lovelace' }],
])('does not come back by a command while %s', async (_why, other) => {
  await using world = await forgotten();
  await world.say('hello', { by: other, key: general });
  expect(await world.memories.add({ text: TEXT, by: requester(world, bob) })).toEqual({ kind: 'forgotten' });
});

it('does not come back as something about nobody', async () => {
  await using world = await forgotten();
  const added = await world.memories.add({ text: TEXT, subject: null, by: requester(world, bob) });
  expect(added).toEqual({ kind: 'forgotten' });
});
