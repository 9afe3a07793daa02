import { describe, expect, it } from 'vitest';
import { ada, bob, general, openWorld, type World } from '../core/memory/memory.world.ts';

const TEXT = 'The boat is red, and a sail of it is new';

async function openHarbour(name: string) {
  const world = await openWorld();
  await world.say('hello', { by: { ...bob, name }, key: general });
  return world;
}

const requester = (world: World) => ({ reader: world.reader(general), author: ada, rights: 'member' as const });

describe('a member with the name of a common word', () => {
  it.each(['is', 'Is', 'the', 'of it', 'a', 'A'])('gets nothing that others say: %s', async (name) => {
    await using world = await openHarbour(name);
    const said = await world.say(TEXT, { key: general });
    const { writes } = await world.admit([{ text: TEXT, about: null, sources: [said.seq] }], { key: general });
    expect(writes).toMatchObject([{ memory: { subjectId: ada.id, state: 'active' } }]);
    expect(await world.memories.add({ text: TEXT, by: requester(world) })).toMatchObject({
      memory: { subjectId: ada.id, state: 'active' },
    });
  });

  it.each(['Will was fired for theft', 'Everybody knows that Will was fired'])(
    'is still named by: %s',
    async (text) => {
      await using world = await openHarbour('Will');
      expect(await world.memories.add({ text, by: requester(world) })).toMatchObject({
        memory: { subjectId: bob.id, trust: 'other', state: 'candidate' },
      });
    },
  );
});
