import { describe, expect, it } from 'vitest';
import { type Author, makeKey } from '../../../src/adapter-kit.ts';
import { ada, bob, dm, general, openWorld, type Proposal, type World } from './memory.world.ts';

const webhook: Author = { id: 'w-1', name: 'Deploy', kind: 'bot' };
const namesake: Author = { id: 'u-ada-2', name: 'Ada', kind: 'person' };

/** What an extraction would save. */
async function judged(world: World, proposal: Proposal, key = general) {
  const { writes } = await world.admit([proposal], { key });
  return writes.map((write) => ('memory' in write ? write.memory : write));
}

const DOOR = 'The office door closes at noon';

describe('a request to remember', () => {
  it('may come in a message of its own', async () => {
    await using world = await openWorld();
    await world.say('Please remember this for the team:', { key: general });
    await world.say('the office door closes at noon', { key: general });
    expect(await judged(world, { text: DOOR, about: 'office', sources: [1, 2] })).toMatchObject([{ state: 'active' }]);
  });

  it('asks for nothing that other people said', async () => {
    await using world = await openWorld();
    await world.say('Remember this: the office closes at noon', { key: general });
    await world.say('the office door closes at noon', { by: bob, key: general });
    expect(await judged(world, { text: DOOR, about: 'office', sources: [1, 2] })).toMatchObject([
      { state: 'candidate' },
    ]);
  });

  it('is not heard from the bot itself', async () => {
    await using world = await openWorld();
    await world.say('the office door closes at noon', { key: general });
    await world.answer('Remember that the office door closes at noon!', { key: general });
    expect(await judged(world, { text: DOOR, about: 'office', sources: [1, 2] })).toMatchObject([
      { state: 'candidate' },
    ]);
  });

  it('is not heard from another bot', async () => {
    await using world = await openWorld();
    await world.say(`Remember that ${DOOR}`, { by: webhook, key: general });
    expect(await judged(world, { text: DOOR, about: 'office' })).toMatchObject([{ state: 'candidate' }]);
  });
});

describe('whose word a statement is', () => {
  it('is not that of a bot about itself', async () => {
    await using world = await openWorld();
    await world.say('I deploy the office software', { by: webhook, key: general });
    const proposal = { text: 'Deploy deploys the office software', about: 'Deploy' };
    expect(await judged(world, proposal)).toMatchObject([{ trust: 'other', state: 'candidate' }]);
  });

  it('is not certain beside a namesake who is not named', async () => {
    await using world = await openWorld();
    await world.say('good morning', { by: namesake, key: general });
    await world.say('I keep twelve bees', { key: general });
    expect(await judged(world, { text: 'Keeps twelve bees', about: null, sources: [2] })).toMatchObject([
      { subjectId: ada.id, trust: 'other', state: 'candidate' },
    ]);
  });

  it('is that of the namesake whose message has the number', async () => {
    await using world = await openWorld();
    await world.say('good morning', { by: namesake, key: general });
    await world.say('I keep twelve bees', { key: general });
    const proposal = { text: 'Ada keeps twelve bees', about: 'Ada (#2)', sources: [2] };
    expect(await judged(world, proposal)).toMatchObject([{ subjectId: ada.id, trust: 'other', state: 'candidate' }]);
  });

  it('is not certain beside a namesake in a long thread', async () => {
    await using world = await openWorld();
    const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });
    await world.say('good morning', { by: namesake, key: thread });
    for (let index = 0; index < 100; index += 1) await world.say(`talk ${index}`, { by: bob, key: thread });
    world.time.now += 1000;
    await world.say('I keep twelve bees', { key: general });
    expect(await judged(world, { text: 'Ada keeps twelve bees', about: 'Ada' })).toMatchObject([
      { subjectId: ada.id, trust: 'other', state: 'candidate' },
    ]);
  });

  it('is certain in a direct message, namesake or not', async () => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { mentions: [namesake] });
    const proposal = { text: 'Ada keeps twelve bees', about: 'Ada' };
    expect(await judged(world, proposal, dm)).toMatchObject([{ subjectId: ada.id, trust: 'self', state: 'active' }]);
  });

  it('is their own in a direct message in other words', async () => {
    await using world = await openWorld();
    await world.say('good morning, who has seen the vault today?');
    const proposal = { text: 'Ada manages keys of a vault full of gold bars', about: 'Ada' };
    expect(await judged(world, proposal, dm)).toMatchObject([{ trust: 'self', state: 'active' }]);
  });
});

describe('the person a statement is about', () => {
  it('is the speaker before a namesake whom they mention', async () => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { key: general, mentions: [namesake] });
    expect(await judged(world, { text: 'Ada keeps twelve bees', about: 'Ada' })).toMatchObject([{ subjectId: ada.id }]);
  });

  it('is called without the sign of a mention', async () => {
    await using world = await openWorld();
    await world.say('Carol keeps twelve bees', { key: general });
    expect(await judged(world, { text: 'Carol keeps twelve bees', about: '@Carol' })).toMatchObject([
      { subjectId: null, subjectName: 'Carol' },
    ]);
  });

  it.each(['@Bob', bob.id])('is found by %s', async (about) => {
    await using world = await openWorld();
    await world.say('good morning', { by: bob, key: general });
    await world.say('Bob keeps twelve bees', { key: general });
    expect(await judged(world, { text: 'Bob keeps twelve bees', about, sources: [2] })).toMatchObject([
      { subjectId: bob.id, subjectName: 'Bob', trust: 'other' },
    ]);
  });
});
