import { describe, expect, it } from 'vitest';
import { makeKey } from '../../src/adapter-kit.ts';
import { createOptOut } from '../../src/memory/people/opt-out.ts';
import { ada, bob, general, openWorld, type World } from '../core/memory/memory.world.ts';

const lovelace = { ...ada, name: 'Lovelace' };
const requester = (world: World, author = bob, rights: 'member' | 'moderator' = 'member') => {
  return { reader: world.reader(general), author, rights };
};

async function paused() {
  const world = await openWorld();
  const person = { conversation: general, authorId: ada.id, name: ada.name };
  await createOptOut(world.state).pause(person, 1);
  return world;
}

describe('a person who takes another name after pausing learning', () => {
  const TEXT = 'The cellar key lies with Lovelace';

  it.each([
    ['speaks under it', { by: lovelace }],
    ['is mentioned by it', { by: bob, mentions: [lovelace] }],
  ])('is not remembered under it if she %s', async (_how, saying) => {
    await using world = await paused();
    await world.say('good morning', { ...saying, key: general });
    const said = await world.say(TEXT, { by: bob, key: general });
    const { writes } = await world.admit([{ text: TEXT, about: 'the cellar', sources: [said.seq] }], { key: general });
    expect(writes).toEqual([]);
  });

  it('is not remembered by a command or an edit', async () => {
    await using world = await paused();
    await world.say('good morning', { by: lovelace, key: general });
    const by = requester(world);
    const about = { text: TEXT, subject: { id: bob.id, name: bob.name }, by };
    await expect(world.memories.add(about)).rejects.toThrowError(/paused learning/);
    const added = await world.memories.add({ text: 'I like plums', by });
    const id = added.kind === 'forgotten' ? '' : added.memory.id;
    await expect(world.memories.edit(id, { text: TEXT }, by)).rejects.toThrowError(/paused learning/);
  });
});

describe('a memory about a person who has paused learning since', () => {
  it('is corrected by them, and reworded by nobody else', async () => {
    await using world = await openWorld();
    await world.say('hi', { key: general });
    const added = await world.memories.add({ text: 'I like plums', by: requester(world, ada) });
    const id = added.kind === 'forgotten' ? '' : added.memory.id;
    await createOptOut(world.state).pause({ conversation: general, authorId: ada.id, name: ada.name }, 1);
    const reworded = world.memories.edit(id, { text: 'Was fired for theft' }, requester(world, bob, 'moderator'));
    await expect(reworded).rejects.toThrowError(/paused learning/);
    const corrected = await world.memories.edit(id, { text: 'I like pears' }, requester(world, ada));
    expect(corrected.text).toBe('I like pears');
  });
});

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
