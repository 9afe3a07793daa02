import { describe, expect, it } from 'vitest';
import { makeKey, placeOf, textOf } from '../../../src/adapter-kit.ts';
import type { ForgetTarget } from '../../../src/memory/forget/forget-target.ts';
import { ada, bob, dm, general, openWorld, type World } from './memory.world.ts';

const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });
const as = (world: World, author = ada, key = general) => {
  return { reader: world.reader(key), author, rights: 'member' as const };
};
const about = ({ id, name }: typeof ada) => {
  return { place: placeOf(general), audience: 'public', subjectId: id, subjectName: name } as const;
};

async function texts(world: World, key = general): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation(key);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.map((entry) => textOf(entry.parts));
}

describe('what a text or several ids ask to forget', () => {
  async function twoSailors() {
    const world = await openWorld();
    const own = await world.plant('Ada sails the red boat', about(ada));
    const others = await world.plant('Bob sails the red boat', about(bob));
    return { world, own, others };
  }

  it('is what the person may forget of what matches', async () => {
    const { world, own } = await twoSailors();
    await using _ = world;
    const { memoryIds } = await world.forget({ kind: 'text', text: 'sails the red boat' }, as(world));
    expect(memoryIds).toEqual([own]);
    await expect(world.forget({ kind: 'text', text: 'sails the red boat' }, as(world))).rejects.toThrow(/is for/);
  });

  it('leaves what has little of the text', async () => {
    await using world = await openWorld();
    const wanted = await world.plant('Ada sails the red boat from Riga', about(ada));
    for (const other of ['Ada keeps paint for the red boat', 'Ada painted her garden door red', 'Ada keeps a boat']) {
      await world.plant(other, about(ada));
    }
    const { memoryIds } = await world.forget({ kind: 'text', text: 'sails red boat Riga' }, as(world));
    expect(memoryIds).toEqual([wanted]);
  });

  it('is refused whole if one of the ids is', async () => {
    const { world, own, others } = await twoSailors();
    await using _ = world;
    await expect(world.forget({ kind: 'memories', ids: [own, others] }, as(world))).rejects.toThrow(/is for/);
    expect(await world.all(general)).toHaveLength(2);
  });
});

describe('messages by number', () => {
  const target = (...seqs: readonly number[]): ForgetTarget => ({ kind: 'messages', conversation: general, seqs });

  it('are refused as a whole if one of them is', async () => {
    await using world = await openWorld();
    await world.say('mine', { key: general });
    await world.say('yours', { by: bob, key: general });
    await expect(world.forget(target(1, 2), as(world))).rejects.toThrow(/is for/);
    expect(await texts(world)).toEqual(['mine', 'yours']);
  });

  it('are deleted once', async () => {
    await using world = await openWorld();
    await world.say('mine', { key: general });
    expect(await world.forget(target(1), as(world))).toMatchObject({ messages: 1 });
    expect(await world.forget(target(1), as(world))).toMatchObject({ messages: 0 });
  });

  it('take what was learned from them alone, for good', async () => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { key: general });
    const { ids } = await world.learn([{ text: 'Ada keeps twelve bees', about: 'Ada' }], { key: general });
    const preview = await world.memories.previewForget(target(1), as(world));
    expect(preview.memories.map(({ id }) => id)).toEqual(ids);
    await world.memories.forget(preview);
    await world.say('I keep twelve bees', { key: general });
    const again = await world.admit([{ text: 'Ada keeps twelve bees', about: 'Ada', sources: [2] }], { key: general });
    expect(again.refused).toEqual([{ reason: 'it was forgotten here' }]);
  });

  it('take what a reply in a thread repeats of them', async () => {
    await using world = await openWorld({ recall: { places: true } });
    await world.say('my password is swordfish', { key: general });
    await world.say('what do you know?', { by: bob, key: thread });
    await world.answer('Ada once wrote swordfish.', { key: thread });
    await world.forget(target(1), as(world));
    expect(await texts(world, thread)).toEqual(['what do you know?', '']);
  });

  it('leave what a message of a thread says, too', async () => {
    await using world = await openWorld();
    await world.say('I keep twelve bees', { key: general });
    await world.learn([{ text: 'Ada keeps twelve bees', about: 'Ada' }], { key: general });
    await world.say('I keep twelve bees', { key: thread });
    await world.learn([{ text: 'Ada keeps twelve bees', about: 'Ada' }], { key: thread });
    expect((await world.all(general)).map(({ sources }) => sources.length)).toEqual([2]);
    expect(await world.forget(target(1), as(world))).toMatchObject({ memoryIds: [], messages: 1 });
    expect(await world.all(general)).toHaveLength(1);
  });
});

describe('what says the same as what is forgotten', () => {
  it('is found over two steps, with what it had replaced', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish', { key: dm });
    await world.say('swordfish opens the cellar and the attic', { key: dm });
    await world.say('at home swordfish opens everything', { key: dm });
    const first = await world.plant("Ada's password is swordfish", {}, [1]);
    await world.plant('Ada logs in with swordfish', {}, [1, 2]);
    await world.plant('The attic needs swordfish', {}, [2]);
    await world.plant('Ada rows on Sundays', {}, [2]);
    await world.forget({ kind: 'memories', ids: [first] }, as(world, ada, dm));
    expect((await world.all()).map(({ text }) => text)).toEqual(['Ada rows on Sundays']);
  });
});

describe('messages behind a memory', () => {
  const moderator = (world: World) => ({ ...as(world), rights: 'moderator' as const });

  it.each([
    ['of whom it is about, for moderators', "Bob's password is swordfish", bob, moderator],
    ['of the one who asks', 'Bob rows with Ada on Sundays', ada, as],
  ])('go with those %s, that repeat it', async (_whose, text, author, by) => {
    await using world = await openWorld();
    await world.say(text, { by: author, key: general });
    await world.say('good morning', { by: author, key: general });
    await world.say(`as I said, ${text}`, { by: author, key: general });
    const id = await world.plant(text, about(bob), [1]);
    await world.forget({ kind: 'memories', ids: [id] }, by(world));
    expect(await texts(world)).toEqual(['', 'good morning', '']);
  });

  it('go even if the bot wrote them', async () => {
    await using world = await openWorld();
    await world.answer('Ada is allergic to peanuts.', { key: general });
    const id = await world.plant('Ada is allergic to peanuts', about(ada), [1]);
    await world.forget({ kind: 'memories', ids: [id] }, as(world));
    expect(await texts(world)).toEqual(['']);
  });
});

describe('the token of a preview', () => {
  const setUp = async () => {
    const world = await openWorld();
    await world.say('I am allergic to peanuts', { key: general });
    const { ids } = await world.learn([{ text: 'Ada is allergic to peanuts', about: 'Ada' }], { key: general });
    const target = { kind: 'memories', ids: [ids[0] ?? ''] } as const;
    const token = async (rights: 'member' | 'moderator' = 'member') =>
      (await world.memories.previewForget(target, { ...as(world), rights })).token;
    return { world, token };
  };

  it('stays while nothing changes', async () => {
    const { world, token } = await setUp();
    await using _ = world;
    const before = await token();
    await world.say('good morning', { by: bob, key: general });
    expect(await token()).toBe(before);
  });

  it.each([
    ['a reply', (world: World) => world.answer('Ada is allergic to peanuts.', { key: general })],
    ['a sentence of others', (world: World) => world.say('Ada is allergic to peanuts', { by: bob, key: general })],
    ['a memory', (world: World) => world.plant('Peanuts: Ada is allergic', about(ada))],
  ])('changes with %s', async (_what, add) => {
    const { world, token } = await setUp();
    await using _ = world;
    const before = await token();
    await add(world);
    expect(await token()).not.toBe(before);
  });

  it('tells a hidden sentence from a deleted one', async () => {
    const { world, token } = await setUp();
    await using _ = world;
    await world.say('Hello all. Ada is allergic to peanuts.', { by: bob, key: general });
    expect(await token('moderator')).not.toBe(await token('member'));
  });
});
