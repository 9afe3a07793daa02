import { describe, expect, it } from 'vitest';
import { type Author, makeKey, textOf } from '../../../src/adapter-kit.ts';
import { isOnlyAbout } from '../../../src/memory/people/about-person.ts';
import { ada, bob, general, openWorld, type World } from './memory.world.ts';

const carol: Author = { id: 'u-carol', name: 'Carol', kind: 'person' };
const mallory: Author = { id: 'u-mal', name: 'Mallory', kind: 'person' };
const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });

it.each([
  ['Jo is ill', ['Jo'], [], true],
  ['王芳 对花生过敏', ['王芳'], [], true],
  ['X is ill', ['X'], [], false],
  ['That Is good', ['That Is'], [], false],
  ['Ada is ill', ['Ada'], ['Is'], true],
  ['Ada and Carol are ill', ['Ada'], [], false],
  ['Carol and Ada are ill', ['Ada'], [], false],
  ['Bring tea and Ada sings', ['Ada'], [], true],
])('tells whether "%s" is about %s alone', (sentence, names, others, expected) => {
  expect(isOnlyAbout(sentence, { names, others })).toBe(expected);
});

/** What remains of what Bob says about Ada after she has forgotten that she is allergic. */
async function heldFrom(world: World, said: string): Promise<string> {
  const source = await world.say('I am allergic to peanuts', { key: general });
  const { seq } = await world.say(said, { by: bob, key: general });
  const proposal = { text: 'Ada is allergic to peanuts', about: 'Ada', sources: [source.seq] };
  const { ids } = await world.learn([proposal], { key: general });
  const by = { reader: world.reader(general), author: ada, rights: 'member' as const };
  await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, by);
  const { id } = await world.conversation(general);
  const [entry] = await world.store.transcript.pick(id, [seq]);
  return textOf(entry?.parts ?? []);
}

describe('a sentence about two people', () => {
  const SAID = 'Ada told Carol she is allergic to peanuts';

  it('is hidden if the other word is nobody here', async () => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    expect(await heldFrom(world, SAID)).toMatch(/held back/);
  });

  it.each([
    ['spoke before in the channel', 'good morning', { by: carol, key: general }],
    ['was mentioned there', 'good morning', { by: bob, mentions: [carol], key: general }],
    ['says the same in a thread', 'peanuts, allergic people', { by: carol, key: thread }],
  ])('stays if the second one %s', async (_how, text, saying) => {
    await using world = await openWorld();
    await world.say(text, saying);
    await world.say('hello', { key: general });
    expect(await heldFrom(world, SAID)).toBe(SAID);
  });
});

it.each(['I know that Ada sings', 'Bob says that ada sings'])(
  'is hidden although somebody said "%s"',
  async (before) => {
    await using world = await openWorld();
    await world.say('hello', { key: general });
    await world.say(before, { by: bob, key: general });
    expect(await heldFrom(world, 'Ada is allergic to peanuts!')).toMatch(/held back/);
  },
);

it('is hidden by a new name that nobody had used', async () => {
  await using world = await openWorld();
  await world.say('hello', { by: { ...ada, name: 'Lovelace' }, key: general });
  world.time.now += 1000;
  expect(await heldFrom(world, 'Ada is allergic to peanuts!')).toMatch(/held back/);
});

describe('a sentence with a name that somebody takes afterwards', () => {
  it.each([
    ['repeats it', { text: 'so Release moves to Friday', key: general }],
    ['repeats it in a thread', { text: 'so Release moves to Friday', key: thread }],
  ])('stays even if they %s', async (_how, { text, key }) => {
    await using world = await openWorld();
    const said = await world.say('Release moves to Friday.', { by: bob, key: general });
    world.time.now += 1000;
    const release = { ...mallory, name: 'Release' };
    await world.say(text, { by: release, key });
    const by = { reader: world.reader(general), author: release, rights: 'member' as const };
    const added = await world.memories.add({ text: 'Release moves to Friday', by });
    await world.forget({ kind: 'memories', ids: [added.kind === 'forgotten' ? '' : added.memory.id] }, by);
    const { id } = await world.conversation(general);
    const [entry] = await world.store.transcript.pick(id, [said.seq]);
    expect(textOf(entry?.parts ?? [])).toBe('Release moves to Friday.');
  });
});
