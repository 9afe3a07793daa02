import { expect, it } from 'vitest';
import { createMemories } from '../../../src/memory/service.ts';
import { ada, general, openWorld, type World } from './memory.world.ts';

/** A memory about Ada from a direct message of somebody in another workspace, whose id begins like the first one. */
async function elsewhere(world: World) {
  const place = { place: 'test:w2:dm-bob', workspace: 'test:w2', audience: 'dm' } as const;
  return await world.plant('Ada keeps twelve bees', { ...place, subjectId: ada.id, subjectName: ada.name });
}

const as = (world: World) => ({ reader: world.reader(general), author: ada, rights: 'member' as const });

it('ends where an id means the same person', async () => {
  await using world = await openWorld();
  const id = await elsewhere(world);
  expect(await world.memories.withheld(ada.id, world.reader(general))).toEqual([]);
  await expect(world.forget({ kind: 'memories', ids: [id] }, as(world))).rejects.toThrowError(/cannot be read here/);
});

it('is the platform if ids mean the same there', async () => {
  await using world = await openWorld();
  const id = await elsewhere(world);
  const memories = createMemories({ ...world.services, personScope: () => 'test' });
  expect(await memories.withheld(ada.id, world.reader(general))).toMatchObject([{ id }]);
  const { memoryIds } = await memories.forget(
    await memories.previewForget({ kind: 'person', personId: ada.id }, as(world)),
  );
  expect(memoryIds).toEqual([id]);
});
