import { describe, expect, it } from 'vitest';
import { placeOf } from '../../src/domain/key.ts';
import { type ConversationKey, textOf } from '../../src/domain/message.ts';
import type { Requester } from '../../src/memory/rights/permissions.ts';
import { BO, cells, field, openWorld as openCommands } from '../core/commands/commands.world.ts';
import { ada, bob, dm, general, openWorld, type World } from '../core/memory/memory.world.ts';

const bobsDm = dm.replace('dm-ada', 'dm-bob') as ConversationKey;
const board = general.replace('general', 'board') as ConversationKey;
const abroad = 'test:elsewhere:general' as ConversationKey;
const SECRET = 'peanuts';

function by(world: World, author = ada, key = general): Requester {
  return { reader: world.reader(key), author, rights: 'member' };
}

/** Bob tells the bot about Ada in his direct message, and the board talks about her in private. */
async function toldElsewhere(world: World) {
  const mention = { by: bob, mentions: [ada] };
  await world.say('Bring cake. Ada is allergic to peanuts! See you at 5.', { ...mention, key: bobsDm, audience: 'dm' });
  const parts = [{ kind: 'text', text: 'I note that Ada is allergic to peanuts.' }] as const;
  await world.append(bobsDm, { role: 'assistant', author: null, externalId: null, parts }, 'dm');
  await world.say('Ada gets a raise in May.', { ...mention, key: board, audience: 'private' });
  const about = (text: string) => [{ text, about: 'Ada', sources: [1] }];
  const first = await world.learn(about('Ada is allergic to peanuts'), { key: bobsDm });
  const second = await world.learn(about('Ada gets a raise in May'), { key: board });
  return { inBobsDm: first.ids[0] ?? '', onBoard: second.ids[0] ?? '' };
}

async function textsIn(world: World, key: ConversationKey) {
  const { id } = await world.conversation(key);
  const entries = await world.store.transcript.read(id, { fromSeq: 1, toSeq: 99, limit: 99 });
  return entries.map(({ parts }) => textOf(parts));
}

describe('memories about people that they cannot read', () => {
  it('is listed without its text or its place', async () => {
    await using world = await openWorld();
    const { inBobsDm, onBoard } = await toldElsewhere(world);
    const withheld = await world.memories.withheld(ada.id, world.reader(general));
    expect(withheld).toHaveLength(2);
    expect(withheld).toEqual(
      expect.arrayContaining([
        { id: inBobsDm, kind: 'fact', state: 'active', audience: 'dm', createdAt: world.time.now },
        { id: onBoard, kind: 'fact', state: 'candidate', audience: 'private', createdAt: world.time.now },
      ]),
    );
    expect(await world.memories.withheld(bob.id, world.reader(general))).toEqual([]);
  });

  it('leaves out what they can read', async () => {
    await using world = await openWorld();
    await toldElsewhere(world);
    const withheld = await world.memories.withheld(ada.id, world.reader(board, 'private'));
    expect(withheld.map(({ audience }) => audience)).toEqual(['dm']);
  });

  it('stays unreadable by its id', async () => {
    await using world = await openWorld();
    const { inBobsDm } = await toldElsewhere(world);
    const { reader } = by(world);
    for (const read of [world.memories.find, world.memories.why]) {
      await expect(read(inBobsDm, reader)).rejects.toThrow(/another place/);
    }
    await expect(world.memories.edit(inBobsDm, { text: 'Ada eats all' }, by(world))).rejects.toThrow(/another place/);
  });

  // Shows: I9, I14
  it('are forgotten by id; others’ words are withheld', async () => {
    await using world = await openWorld();
    const { inBobsDm } = await toldElsewhere(world);
    const preview = await world.memories.previewForget({ kind: 'memories', ids: [inBobsDm] }, by(world));
    expect(preview.withheld).toEqual({ memories: 1, messages: 1, sentences: 1 });
    const { plan: _plan, token: _token, ...shown } = preview;
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(JSON.stringify(shown)).not.toContain(bob.name);
    await world.memories.forget(preview);
    expect(await world.memories.withheld(ada.id, world.reader(general))).toHaveLength(1);
    const [said, answer] = await textsIn(world, bobsDm);
    expect(said).toMatch(/^Bring cake\. \(held back: \w+\) See you at 5\.$/);
    expect(answer).toBe('');
  });

  it('goes with everything about them', async () => {
    await using world = await openWorld();
    await toldElsewhere(world);
    await world.forget({ kind: 'person', personId: ada.id }, by(world));
    expect(await world.memories.withheld(ada.id, world.reader(general))).toEqual([]);
    expect((await textsIn(world, board))[0]).toMatch(/^\(held back: \w+\)$/);
  });

  it('is not forgotten by others', async () => {
    await using world = await openWorld();
    const { inBobsDm, onBoard } = await toldElsewhere(world);
    const mallory = { id: 'u-mallory', name: 'Ada', kind: 'person' } as const;
    for (const ids of [[inBobsDm], [onBoard]]) {
      await expect(world.forget({ kind: 'memories', ids }, by(world, mallory))).rejects.toThrow(/another place/);
    }
    const moderator = { ...by(world, bob), rights: 'moderator' as const };
    await world.forget({ kind: 'person', personId: ada.id }, moderator);
    expect(await world.memories.withheld(ada.id, world.reader(general))).toHaveLength(2);
  });

  it('is counted in a copy, for the person alone', async () => {
    await using world = await openWorld();
    const { inBobsDm, onBoard } = await toldElsewhere(world);
    const copy = await world.memories.exportFor(ada.id, by(world));
    expect(copy.withheld.map(({ id }) => id).toSorted()).toEqual([inBobsDm, onBoard].toSorted());
    expect(JSON.stringify(copy)).not.toContain(SECRET);
    const moderator = { ...by(world, bob), rights: 'moderator' as const };
    expect((await world.memories.exportFor(ada.id, moderator)).withheld).toEqual([]);
  });

  it('belongs to nobody with the same id elsewhere', async () => {
    await using world = await openWorld();
    const id = await world.plant('Ada moves to Rome', { place: placeOf(abroad), workspace: 'test:elsewhere' });
    expect(await world.memories.withheld(ada.id, world.reader(general))).toEqual([]);
    await expect(world.forget({ kind: 'memories', ids: [id] }, by(world))).rejects.toThrow(/another place/);
  });
});

describe('an export of a person’s data', () => {
  const lounge = general.replace('general', 'lounge') as ConversationKey;
  const away = `${abroad}` as ConversationKey;

  /** Ada speaks everywhere but on the board and in Bob's direct messages; Bob speaks of her everywhere. */
  async function talkedEverywhere() {
    const world = await openWorld();
    await toldElsewhere(world);
    for (const [key, audience] of PLACES) {
      await world.say(`I keep bees in ${key}`, { key, audience });
      await world.say(`Ada sings in ${key}`, { by: bob, mentions: [ada], key, audience });
      await world.learn([{ text: `Ada keeps bees in ${key}`, about: 'Ada', sources: [1] }], { key });
      await world.learn([{ text: `Ada sings in ${key}`, about: 'Ada', sources: [2] }], { key });
    }
    return world;
  }
  const closed = general.replace('general', 'closed') as ConversationKey;
  const PLACES = [
    [dm, 'dm'],
    [general, 'public'],
    [lounge, 'public'],
    [closed, 'private'],
    [away, 'public'],
  ] as const;

  async function copyAt(world: World, key: ConversationKey, options: Partial<ReturnType<typeof by>> = {}) {
    const audience = PLACES.find(([place]) => place === key)?.[1] ?? 'public';
    const asking = { ...by(world), reader: world.reader(key, audience), ...options };
    const copy = await world.memories.exportFor(ada.id, asking);
    const said = copy.messages.map(({ parts }) => textOf(parts).replace('I keep bees in ', ''));
    return { ...copy, said: said.toSorted(), told: copy.memories.map(({ text }) => text).toSorted() };
  }
  const keeps = (...keys: readonly string[]) => keys.map((key) => `Ada keeps bees in ${key}`);
  const sings = (...keys: readonly string[]) => keys.map((key) => `Ada sings in ${key}`);

  // Shows: I9
  it('contains in direct messages everything they said', async () => {
    await using world = await talkedEverywhere();
    const copy = await copyAt(world, dm);
    expect(copy.reach).toBe('everywhere');
    expect(copy.said).toEqual([closed, dm, general, lounge].toSorted());
    expect(copy.told).toEqual([...sings(dm, general, lounge), ...keeps(closed, dm, general, lounge)].toSorted());
    expect(copy.withheld).toHaveLength(3);
    expect(JSON.stringify(copy)).not.toMatch(/peanuts|raise|sings in test:w:closed/);
  });

  it('contains elsewhere what that place may read', async () => {
    await using world = await talkedEverywhere();
    const copy = await copyAt(world, general);
    expect(copy.reach).toBe('open');
    expect(copy.said).toEqual([general, lounge].toSorted());
    expect(copy.told).toEqual([...sings(general, lounge), ...keeps(general, lounge)].toSorted());
    expect(copy.withheld).toHaveLength(6);
  });

  it('omits formerly private messages of public places', async () => {
    await using world = await talkedEverywhere();
    await world.say('psst', { by: bob, key: lounge, audience: 'private' });
    await world.say('welcome', { by: bob, key: lounge, audience: 'public' });
    const copy = await copyAt(world, general);
    expect(copy.said).toEqual([general]);
    expect(copy.told).toEqual([...sings(general), ...keeps(general)].toSorted());
  });

  describe('who was removed from a place', () => {
    /** Ada and Bob talk in public. Then Ada has to leave, and Bob says why. */
    async function dismissed() {
      const world = await openWorld();
      await world.say('I keep bees', { key: general });
      await world.say('Ada sings', { by: bob, mentions: [ada], key: general });
      await world.say('Nice', { key: general });
      const about = (text: string, ...sources: number[]) => [{ text, about: 'Ada', sources }];
      await world.learn(about('Ada keeps bees', 1), { key: general });
      await world.learn(about('Ada sings', 2), { key: general });
      world.time.now += 60_000;
      const { seq } = await world.say('Ada was dismissed for theft', { by: bob, mentions: [ada], key: general });
      const { ids } = await world.learn(about('Ada was dismissed for theft', seq), { key: general });
      return { world, id: ids[0] ?? '' };
    }

    it('reads nothing that was said there since', async () => {
      const { world, id } = await dismissed();
      await using _ = world;
      const copy = await copyAt(world, dm);
      expect(copy.told).toEqual(['Ada keeps bees', 'Ada sings']);
      expect(copy.withheld.map((memory) => memory.id)).toEqual([id]);
      expect((await copyAt(world, lounge)).told).toEqual(['Ada keeps bees', 'Ada sings']);
    });

    it('reads no memory that was reworded there since', async () => {
      const { world } = await dismissed();
      await using _ = world;
      const sings = (await world.all(general)).find(({ text }) => text === 'Ada sings');
      const moderator = { ...by(world, bob), rights: 'moderator' as const };
      await world.memories.edit(sings?.id ?? '', { text: 'Ada sings badly' }, moderator);
      const keepsBees = (await world.all(general)).find(({ text }) => text === 'Ada keeps bees');
      await world.memories.move(keepsBees?.id ?? '', 'demote', moderator);
      expect((await copyAt(world, dm)).told).toEqual(['Ada keeps bees']);
    });

    it('reads it there, and once they are back', async () => {
      const { world } = await dismissed();
      await using _ = world;
      const all = ['Ada keeps bees', 'Ada sings', 'Ada was dismissed for theft'];
      expect((await copyAt(world, general)).told).toEqual(all);
      await world.say('Here I am again', { key: general });
      expect((await copyAt(world, dm)).told).toEqual(all);
    });
  });

  it('contains only what they asked to remember', async () => {
    await using world = await openWorld();
    const add = (text: string, author: typeof ada) =>
      world.memories.add({ text, by: by(world, author, bobsDm), subject: { id: ada.id, name: ada.name } });
    await add('Ada collects maps', ada);
    await add('Ada snores', bob);
    const copy = await copyAt(world, dm);
    expect(copy.told).toEqual(['Ada collects maps']);
    expect(copy.withheld).toHaveLength(1);
  });

  it('stays within the place when somebody else takes it', async () => {
    await using world = await talkedEverywhere();
    for (const rights of ['moderator', 'operator'] as const) {
      const copy = await copyAt(world, general, { author: bob, rights });
      expect(copy).toMatchObject({ reach: 'place', said: [general], withheld: [] });
    }
    const moderator = await copyAt(world, dm, { author: bob, rights: 'moderator' });
    expect(moderator.said).toEqual([dm]);
  });

  it('is complete for the operator in the person’s direct messages', async () => {
    await using world = await talkedEverywhere();
    const copy = await copyAt(world, dm, { author: bob, rights: 'operator' });
    expect(copy.said).toEqual((await copyAt(world, dm)).said);
    const reader = world.reader(bobsDm, 'dm');
    const elsewhere = await world.memories.exportFor(ada.id, { ...by(world, bob), reader, rights: 'operator' });
    expect(elsewhere).toMatchObject({ reach: 'place', messages: [] });
  });
});

describe('the commands of a person who asks elsewhere', () => {
  const direct = { conversation: 'test:w:direct' as ConversationKey, audience: 'dm' } as const;

  async function remembering() {
    const world = await openCommands({ audience: 'public' });
    await world.type('/memory remember I am allergic to peanuts', direct);
    return world;
  }

  it('report that memories exist, without their text', async () => {
    await using world = await remembering();
    const { text } = await world.type('/memory list');
    expect(text).toContain("One more memory about you is stored where you can't read it from here");
    const own = await world.type('/memory list about=me');
    const what = expect.stringContaining('not readable here: stored in a direct message since');
    expect(cells(own)).toEqual([[expect.stringMatching(/^\w{26}$/), 'fact', what, 'Ada', 'active']]);
    expect(field(await world.type('/privacy'), 'Memories about you elsewhere')).toBe('1, not readable from here');
    const copy = await world.type('/memory export');
    expect(copy.text).toContain('The copy lists one more memory stored elsewhere');
    expect(JSON.stringify([text, own, copy])).not.toContain(SECRET);
  });

  it('tell others nothing', async () => {
    await using world = await remembering();
    for (const line of ['/memory list', '/memory list about=me', '/privacy', '/memory export']) {
      const reply = JSON.stringify(await world.type(line, { author: BO }));
      expect(reply).not.toMatch(/elsewhere|more memor|not readable/);
    }
  });

  it('forget them after a confirmation without their text', async () => {
    await using world = await remembering();
    const [[id = ''] = []] = cells(await world.type('/memory list about=me'));
    const question = await world.type(`/memory forget ${id}`);
    expect(field(question, "In places that you can't read from here")).toBe('1 memory');
    expect(JSON.stringify(question)).not.toContain(SECRET);
    const [action] = question.actions;
    await world.type(`/memory forget ${id} confirm=${action?.command.options['confirm'] ?? ''}`);
    expect(cells(await world.type('/memory list about=me'))).toEqual([]);
    expect(cells(await world.type('/memory list', direct))).toEqual([]);
  });
});
