import { describe, expect, it } from 'vitest';
import { makeKey } from '../../src/adapter-kit.ts';
import { ada, bob, general, openWorld, type World } from '../core/memory.world.ts';

const lovelace = { ...ada, name: 'Lovelace' };
const requester = (world: World, author = bob, rights: 'member' | 'moderator' = 'member') => {
  return { reader: world.reader(general), author, rights };
};

describe('a person with several names in a place', () => {
  const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });

  it.each(['Lovelace hates pears', 'Ada hates pears'])('is the subject of "%s"', async (text) => {
    await using world = await openWorld();
    await world.say('good morning', { by: ada, key: thread });
    world.time.now += 1000;
    await world.say('good morning', { by: lovelace, key: general });
    const added = await world.memories.add({ text, by: requester(world) });
    expect(added).toMatchObject({ memory: { subjectId: ada.id, trust: 'other', state: 'candidate' } });
  });
});
