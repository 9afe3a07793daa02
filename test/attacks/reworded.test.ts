import { describe, expect, it } from 'vitest';
import { type Author, textOf } from '../../src/adapter-kit.ts';
import { removeMessages } from '../../src/memory/forget/removal.ts';
import type { Requester } from '../../src/memory/rights/permissions.ts';
import { bob, general, openWorld, type World } from '../core/memory/memory.world.ts';

const mallory: Author = { id: 'u-mal', name: 'Mallory', kind: 'person' };
const FACT = 'The platypus glows turquoise under ultraviolet lamps.';

function member(world: World): Requester {
  return { reader: world.reader(general), author: mallory, rights: 'member' };
}

async function texts(world: World): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation(general);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.map((entry) => textOf(entry.parts));
}

/** As the platform reports it. */
async function edit(world: World, externalId: string, text: string): Promise<void> {
  world.time.now += 1000;
  const { id } = await world.conversation(general);
  const parts = [{ kind: 'text', text }] as const;
  await world.store.transcript.edit(id, { externalId, parts, tokens: 1, now: world.time.now });
}

async function remove(world: World, externalId: string): Promise<void> {
  await removeMessages(world.services, await world.conversation(general), [externalId]);
}

/** The first answer to a message is deleted with it once it is edited: nobody knows any more what it answered. */
async function greet(world: World): Promise<void> {
  await world.say('hello there', { by: mallory, key: general, externalId: 'm1' });
  await world.answer('Hi!', { key: general });
}

/** What the bot tells Bob, after something that Mallory can change. */
async function tellBob(world: World): Promise<void> {
  await world.say('Tell me something for the quiz', { by: bob, key: general });
  await world.answer(FACT, { key: general });
}

describe('a member who rewords what they said before', () => {
  it('deletes no older reply with an edited message', async () => {
    await using world = await openWorld();
    await greet(world);
    await tellBob(world);
    await edit(world, 'm1', `hello there. ${FACT}`);
    await remove(world, 'm1');
    expect((await texts(world)).at(-1)).toBe(FACT);
  });

  it('deletes no older reply with an edited memory', async () => {
    await using world = await openWorld();
    const added = await world.memories.add({ text: 'I like green tea', by: member(world) });
    if (added.kind === 'forgotten') throw new Error('it was forgotten before');
    await world.say('hello there', { by: mallory, key: general });
    const { id: conversationId } = await world.conversation(general);
    await world.store.memories.recalled([added.memory.id], { conversationId, now: world.time.now });
    await tellBob(world);
    world.time.now += 1000;
    const { id } = await world.memories.edit(added.memory.id, { text: FACT }, member(world));
    await world.forget({ kind: 'memories', ids: [id] }, member(world));
    expect((await texts(world)).at(-1)).toBe(FACT);
  });

  it('deletes no older reply with what an edit taught', async () => {
    await using world = await openWorld();
    await greet(world);
    await tellBob(world);
    await edit(world, 'm1', FACT);
    const { ids } = await world.learn([{ text: FACT, sources: [1] }], { key: general });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, member(world));
    expect((await texts(world)).at(-1)).toBe(FACT);
  });

  it('deletes the replies that repeat what they said first', async () => {
    await using world = await openWorld();
    await world.say('My locker has the code 44710932, and I adore rhubarb', {
      by: mallory,
      key: general,
      externalId: 'm1',
    });
    await world.answer('Noted: 44710932.', { key: general });
    await world.say('What does Mallory adore?', { by: bob, key: general });
    await world.answer('Rhubarb from the locker.', { key: general });
    await edit(world, 'm1', 'My old locker has the code 44710932, and I do adore rhubarb');
    await edit(world, 'm1', 'My old red locker has the code 44710932, and I do adore rhubarb a lot');
    await world.answer('A red locker!', { key: general });
    await remove(world, 'm1');
    expect(await texts(world)).toEqual(['', '', 'What does Mallory adore?', '', '']);
  });

  it.each([
    ['The vault opens with WX-77 Q3', 'Bob, use WX77Q3.', 'The vault opens with WX77Q3'],
    ['We eat straw berries there', 'Strawberries, as everybody knows.', 'We eat strawberries there'],
    ['Мы едем в Гётеборг', 'В Гетеборг.', 'Мы едем в Гетеборг'],
    ['我們學習漢語', '学习汉语。', '我们学习汉语'],
  ])('deletes a reply in the later spelling: %s', async (first, told, later) => {
    await using world = await openWorld();
    await world.say(first, { by: mallory, key: general, externalId: 'm1' });
    await world.answer('Hi!', { key: general });
    await world.say('What was it again?', { by: bob, key: general });
    await world.answer(told, { key: general });
    await edit(world, 'm1', later);
    await remove(world, 'm1');
    expect((await texts(world)).at(-1)).toBe('');
  });

  it('deletes replies with a memory that an edited message confirms', async () => {
    await using world = await openWorld();
    const added = await world.memories.add({ text: 'I adore rhubarb', by: member(world) });
    if (added.kind === 'forgotten') throw new Error('it was forgotten before');
    const { id } = added.memory;
    await greet(world);
    const { id: conversationId } = await world.conversation(general);
    await world.store.memories.recalled([id], { conversationId, now: world.time.now });
    await world.say('What does she like?', { by: bob, key: general });
    await world.answer('Rhubarb.', { key: general });
    await edit(world, 'm1', 'I adore rhubarb');
    await world.learn([{ text: 'I adore rhubarb', sources: [1] }], { key: general });
    expect((await world.memories.find(id, world.reader(general))).sources).toHaveLength(1);
    await world.forget({ kind: 'memories', ids: [id] }, member(world));
    expect((await texts(world)).at(-1)).toBe('');
  });
});
