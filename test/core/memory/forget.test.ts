import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Entry, isStrataError, makeKey, textOf, workspaceOf } from '../../../src/adapter-kit.ts';
import { placeOf } from '../../../src/domain/key.ts';
import { DAY_MS } from '../../../src/util/time/time.ts';
import { ada, bob, DAY, dm, general, memoryOf, moveToParis, openWorld, type World } from './memory.world.ts';

const random = makeKey({ platform: 'test', workspace: 'w', channel: 'random' });
const asAda = (world: World, key = dm) => ({ reader: world.reader(key), author: ada, rights: 'member' as const });

async function left(world: World, key = dm): Promise<readonly Entry[]> {
  const { id, nextSeq } = await world.conversation(key);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.filter((entry) => entry.redactedAt === null);
}

describe('forgetting', () => {
  it('removes the statement from every layer, leaving the rest', async () => {
    await using world = await openWorld();
    await world.say('good morning');
    await world.say('My locker code is 471193, for the gym');
    await world.answer('', {
      parts: [
        {
          kind: 'tool-call',
          callId: 'c1',
          tool: 'memory_save',
          input: { kind: 'fact', text: "Ada's locker code is 471193" },
        },
      ],
    });
    await world.append(
      dm,
      {
        role: 'tool',
        author: null,
        externalId: null,
        parts: [
          {
            kind: 'tool-result',
            callId: 'c1',
            tool: 'memory_save',
            text: '{"saved":true}',
            isError: false,
            blob: null,
          },
        ],
      },
      'dm',
    );
    await world.answer('Noted: the code 471193 opens your locker.');
    await world.say('The gym opens at nine');
    await world.say('Is there a code of conduct?');
    for (let index = 0; index < 60; index++) await world.say(`unrelated talk number ${index}`);
    await world.answer('By the way, your locker code is still 471193.');
    await world.learn([{ text: "Ada's locker code is 471193", about: 'Ada', sources: [2] }]);
    const [memory] = await world.all();
    const done = await world.forget({ kind: 'memories', ids: [memory?.id ?? ''] }, asAda(world));
    expect(done.memoryIds).toHaveLength(1);
    expect(await world.all()).toEqual([]);
    const texts = (await left(world)).map((entry) => JSON.stringify(entry.parts));
    expect(texts.filter((text) => text.includes('471193'))).toEqual([]);
    expect(texts).toHaveLength(64);
    expect(texts.some((text) => text.includes('code of conduct'))).toBe(true);
    expect(world.seen.filter((event) => event.kind === 'memory.forgotten')).toHaveLength(1);
    expect(inFiles(world, '471193')).toEqual([]);
  });

  it('spares statements in the same words about other numbers', async () => {
    await using world = await openWorld();
    for (let index = 1; index <= 12; index++) await world.say(`My parcel ${index} is at the post office.`);
    await world.learn([{ text: "Ada's parcel 7 is at the post office", about: 'Ada', sources: [7] }]);
    const [memory] = await world.all();
    await world.forget({ kind: 'memories', ids: [memory?.id ?? ''] }, asAda(world));
    const texts = (await left(world)).map((entry) => textOf(entry.parts));
    expect(texts).toHaveLength(11);
    expect(texts.some((text) => text.includes('parcel 7 '))).toBe(false);
  });

  // Shows: R19
  it('does not come back in other case and punctuation', async () => {
    await using world = await openWorld();
    await world.say('I prefer green tea');
    const { ids } = await world.learn([{ text: 'Ada prefers green tea', sources: [1] }]);
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world));
    await world.say('what do I drink?');
    expect((await world.learn([{ text: 'ADA prefers green tea!', sources: [2] }])).ids).toEqual([]);
    expect(await world.all()).toEqual([]);
  });

  it('deletes the same statement in other words too', async () => {
    await using world = await openWorld();
    const id = await world.plant('Ada prefers green tea in the morning');
    await world.plant('In the morning, Ada prefers green tea', {
      subjectId: null,
      subjectName: null,
      state: 'candidate',
    });
    await world.plant('Ada prefers strong coffee in the evening');
    await world.forget({ kind: 'memories', ids: [id] }, asAda(world));
    expect((await world.all()).map((memory) => memory.text)).toEqual(['Ada prefers strong coffee in the evening']);
  });

  it('finds the echo in a thread and spares other people', async () => {
    await using world = await openWorld();
    const thread = `${general}:t9` as typeof general;
    await world.say('I am allergic to peanuts', { key: general });
    await world.say('Ada is allergic to peanuts, careful', { by: bob, key: thread, audience: 'public' });
    await world.say('I sell peanuts at the market', { by: bob, key: general });
    await world.say('Allergic people should read the label', { by: bob, key: general });
    await world.learn([{ text: 'Ada is allergic to peanuts', about: 'Ada', sources: [1] }], { key: general });
    const [memory] = await world.all(general);
    await world.forget({ kind: 'memories', ids: [memory?.id ?? ''] }, asAda(world, general));
    expect((await left(world, general)).map((entry) => textOf(entry.parts))).toEqual([
      'I sell peanuts at the market',
      'Allergic people should read the label',
    ]);
    expect((await left(world, thread)).map((entry) => textOf(entry.parts))).toEqual([
      expect.stringMatching(/^\(held back: \w+\)$/),
    ]);
  });

  it('deletes cited messages only when none holds the statement', async () => {
    await using world = await openWorld();
    await world.say('Let us talk about holidays');
    await world.say('I will fly to Lisbon in spring');
    const { ids } = await world.learn([{ text: 'Ada flies to Lisbon in spring', sources: [1, 2] }]);
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world));
    expect((await left(world)).map((entry) => entry.seq)).toEqual([1]);
    await world.say('我对花生过敏');
    const foreign = await world.learn([{ text: 'Ada is allergic to peanuts', sources: [3] }]);
    await world.forget({ kind: 'memories', ids: [foreign.ids[0] ?? ''] }, asAda(world));
    expect((await left(world)).map((entry) => entry.seq)).toEqual([1]);
  });

  it('keeps talk that shares one common word with it', async () => {
    await using world = await openWorld();
    await world.say('I like tea');
    await world.say('The tea party of Boston was in 1773');
    await world.answer('Tea is a plant of the genus Camellia.');
    await world.answer('Since you like tea, here is a pot.');
    const { ids } = await world.learn([{ text: 'Ada likes tea', sources: [1] }]);
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world));
    expect((await left(world)).map((entry) => entry.seq)).toEqual([2, 3]);
  });

  it('leaves a code that another person repeats alone', async () => {
    await using world = await openWorld();
    await world.say('My locker code is 471193', { key: general });
    await world.say('471193, got it', { by: bob, key: general });
    await world.say('1773 and 2026 are years', { by: bob, key: general });
    const { ids } = await world.learn([{ text: "Ada's locker code is 471193", about: 'Ada' }], { key: general });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world, general));
    expect((await left(world, general)).map((entry) => textOf(entry.parts))).toEqual([
      '471193, got it',
      '1773 and 2026 are years',
    ]);
  });

  it('forgets by text and by person, within reach', async () => {
    await using world = await openWorld();
    await world.plant('Ada owns a blue canoe');
    await world.plant('Ada works in a bakery');
    await world.plant('Bob owns a red canoe', {
      subjectId: bob.id,
      subjectName: 'Bob',
      place: general,
      audience: 'public',
    });
    const first = await world.forget({ kind: 'text', text: 'my blue canoe' }, asAda(world));
    expect(first.memoryIds).toHaveLength(1);
    expect((await world.all()).map((memory) => memory.text)).toEqual(['Ada works in a bakery']);
    await world.forget({ kind: 'person', personId: ada.id }, asAda(world));
    expect(await world.all()).toEqual([]);
    expect(await world.all(general)).toHaveLength(1);
    expect(await world.forget({ kind: 'text', text: 'nothing like it' }, asAda(world))).toMatchObject({
      memoryIds: [],
      messages: 0,
    });
  });

  it('forgets a person whole, however much is known of them', async () => {
    await using world = await openWorld();
    const writes = Array.from({ length: 1003 }, (_, index) => {
      return { kind: 'insert', memory: memoryOf(`w${index} x${index} y${index}`), sources: [] } as const;
    });
    await world.store.memories.save({ conversationId: null, writes, actor: 'test', now: world.time.now });
    const { memoryIds } = await world.forget({ kind: 'person', personId: ada.id }, asAda(world));
    expect(memoryIds).toHaveLength(1003);
    expect(await world.all()).toEqual([]);
  }, 120_000);

  it('includes what the bot repeats before it begins', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    await world.say('My badge number is 99123', { key: general });
    const { ids } = await world.learn([{ text: "Ada's badge number is 99123", sources: [1] }], { key: general });
    await world.say('What is the number of Ada?', { key: random, by: bob });
    const by = asAda(world, general);
    const preview = await world.memories.previewForget({ kind: 'memories', ids: [ids[0] ?? ''] }, by);
    await world.answer('Noted: 99123 is the number of your badge.', { key: general });
    const { id: conversationId } = await world.conversation(general);
    const here = { place: placeOf(general), workspace: workspaceOf(general), audience: 'public' } as const;
    const writes = [{ kind: 'insert', memory: memoryOf('99123 opens the vault', here), sources: [1] }] as const;
    await world.store.memories.save({ conversationId, writes, actor: 'model', now: world.time.now });
    expect(await world.all(general)).toHaveLength(2);
    const given = { conversationId: (await world.conversation(random)).id, now: world.time.now };
    await world.store.memories.recalled([ids[0] ?? ('' as never)], given);
    await world.answer('It is 99123.', { key: random });
    await world.answer('Good night.', { key: random });
    await world.memories.forget(preview);
    expect(await world.all(general)).toEqual([]);
    expect(await left(world, general)).toEqual([]);
    expect((await left(world, random)).map(({ parts }) => textOf(parts))).toEqual([
      'What is the number of Ada?',
      'Good night.',
    ]);
  });

  it('announces in the plan exactly what it will delete', async () => {
    await using world = await openWorld();
    await world.say('My badge number is 99123');
    const { ids } = await world.learn([{ text: "Ada's badge number is 99123", sources: [1] }]);
    const { plan } = await world.memories.previewForget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world));
    expect(plan.memoryIds).toEqual(ids);
    expect(plan.redactions.map(({ seqs }) => seqs)).toEqual([[1]]);
    expect(await world.all()).toHaveLength(1);
  });
});

describe('rights', () => {
  it('lets members change only what is about them', async () => {
    await using world = await openWorld();
    const mine = await world.plant('Ada rows', { place: general, audience: 'public' });
    const others = await world.plant('Bob rows', {
      place: general,
      audience: 'public',
      subjectId: bob.id,
      subjectName: 'Bob',
    });
    const by = asAda(world, general);
    expect((await world.memories.pin(mine, true, by)).pinned).toBe(true);
    for (const attempt of [
      () => world.memories.pin(others, true, by),
      () => world.memories.edit(others, { text: 'Bob swims' }, by),
      () => world.memories.move(others, 'reject', by),
      () => world.forget({ kind: 'memories', ids: [others] }, by),
      () => world.memories.exportFor(bob.id, by),
    ]) {
      await expect(attempt()).rejects.toSatisfy((error) => isStrataError(error, 'COMMAND_FORBIDDEN'));
    }
    expect((await world.memories.pin(others, true, { ...by, rights: 'moderator' })).pinned).toBe(true);
  });

  it('refuses memories of other places with a typed error', async () => {
    await using world = await openWorld();
    const id = await world.plant('Ada keeps a diary');
    const by = { reader: world.reader(general), author: bob, rights: 'operator' as const };
    for (const attempt of [
      () => world.memories.find(id, by.reader),
      () => world.memories.why(id, by.reader),
      () => world.forget({ kind: 'memories', ids: [id] }, by),
    ]) {
      await expect(attempt()).rejects.toSatisfy((error) => isStrataError(error, 'ACCESS_DENIED'));
    }
    await expect(world.memories.find('nothing', by.reader)).rejects.toSatisfy((error) =>
      isStrataError(error, 'NOT_FOUND'),
    );
  });

  it('members approve statements about them, not channel instructions', async () => {
    await using world = await openWorld();
    const place = { place: general, audience: 'public', state: 'candidate', trust: 'other' } as const;
    const said = await world.plant('Ada is left-handed', place);
    const order = await world.plant('Always answer in verse', { ...place, kind: 'instruction' });
    const by = asAda(world, general);
    expect((await world.memories.move(said, 'promote', by)).state).toBe('active');
    await expect(world.memories.move(order, 'promote', by)).rejects.toThrow();
    expect((await world.memories.move(order, 'promote', { ...by, rights: 'moderator' })).state).toBe('active');
    await expect(world.memories.move(said, 'promote', by)).rejects.toThrow(/Only a candidate can be approved/);
  });

  it('does not promote what was retired within three days', async () => {
    await using world = await openWorld();
    await world.say('the printer is in room 12', { by: bob, key: general });
    const proposal = { text: 'The big printer stands in room 12', about: 'the printer' };
    await world.learn([{ ...proposal, sources: [1] }], { key: general });
    const [memory] = await world.all(general);
    const by = { reader: world.reader(general), author: bob, rights: 'moderator' as const };
    await world.memories.move(memory?.id ?? '', 'promote', by);
    await world.memories.move(memory?.id ?? '', 'demote', by);
    world.time.now += DAY;
    await world.say('printer: room 12', { by: bob, key: general });
    await world.learn([{ ...proposal, sources: [2] }], { key: general });
    expect((await world.all(general))[0]?.state).toBe('candidate');
    world.time.now += 3 * DAY;
    await world.say('the printer is still in room 12', { by: bob, key: general });
    await world.learn([{ ...proposal, sources: [3] }], { key: general });
    expect((await world.all(general))[0]?.state).toBe('active');
  });
});

describe('adding, why and export', () => {
  it('adds by trust: self, another, the operator everywhere', async () => {
    await using world = await openWorld();
    const by = asAda(world, general);
    const own = await world.memories.add({ text: 'I row on Sundays', by });
    expect(own).toMatchObject({
      kind: 'added',
      memory: { state: 'active', trust: 'self', subjectId: ada.id, audience: 'public' },
    });
    const other = await world.memories.add({ text: 'Bob rows too', subject: { id: bob.id, name: 'Bob' }, by });
    expect(other).toMatchObject({ kind: 'added', memory: { state: 'candidate', trust: 'other' } });
    const rule = await world.memories.add({ text: 'Always answer in verse', by });
    expect(rule).toMatchObject({ kind: 'added', memory: { state: 'candidate', kind: 'instruction' } });
    const operator = { ...by, rights: 'operator' as const };
    const everywhere = await world.memories.add({
      text: 'The house rules are on the wiki',
      scope: 'global',
      by: operator,
    });
    expect(everywhere).toMatchObject({ kind: 'added', memory: { scope: 'global', trust: 'operator', place: '' } });
    expect(await world.memories.search({ reader: world.reader(dm), text: 'house rules', limit: 3 })).toHaveLength(1);
    await expect(world.memories.add({ text: 'x y z', scope: 'global', by })).rejects.toSatisfy((error) =>
      isStrataError(error, 'COMMAND_FORBIDDEN'),
    );
    expect(await world.memories.add({ text: 'i row on SUNDAYS', by })).toMatchObject({ kind: 'known' });
    await expect(world.memories.add({ text: '  ', by })).rejects.toSatisfy((error) => isStrataError(error, 'USAGE'));
  });

  it('does not bring back by adding what was forgotten here', async () => {
    await using world = await openWorld();
    const added = await world.memories.add({ text: 'I row on Sundays', by: asAda(world) });
    if (added.kind !== 'added') throw new Error('not added');
    await world.forget({ kind: 'memories', ids: [added.memory.id] }, asAda(world));
    expect(await world.memories.add({ text: 'I row on Sundays', by: asAda(world) })).toEqual({ kind: 'forgotten' });
  });

  it('tells where a memory came from and its history', async () => {
    await using world = await openWorld();
    const ids = await moveToParis(world);
    const origin = await world.memories.why(ids[0] ?? '', world.reader());
    expect(origin.sources).toMatchObject([
      { seq: 1, text: 'I live in Berlin', author: ada, link: `${dm}#1`, conversation: dm },
    ]);
    expect(origin.replacedBy?.text).toBe('Ada moved to Paris');
    expect(origin.events.map((event) => event.kind)).toEqual(['added', 'superseded']);
    await world.store.transcript.redact((await world.conversation()).id, { externalIds: ['m2'], now: world.time.now });
    const current = (await world.all()).find((memory) => memory.state === 'active');
    expect(current).toBeUndefined();
  });

  it('lists no candidate that faded, and keeps it', async () => {
    await using world = await openWorld();
    const id = await world.plant('Ada may own a boat', { state: 'candidate' });
    await world.plant('Ada owns a bicycle');
    const query = { reader: world.reader(), limit: 9, offset: 0 };
    expect(await world.memories.list(query)).toHaveLength(2);
    world.time.now += 91 * DAY;
    expect((await world.memories.list(query)).map((memory) => memory.text)).toEqual(['Ada owns a bicycle']);
    expect((await world.memories.find(id, world.reader())).text).toBe('Ada may own a boat');
  });

  it('edits text and fingerprint together', async () => {
    await using world = await openWorld();
    const id = await world.plant('Ada lives in Berlin');
    const edited = await world.memories.edit(id, { text: 'Ada lives in  Bonn ' }, asAda(world));
    expect(edited.text).toBe('Ada lives in Bonn');
    expect(await world.memories.search({ reader: world.reader(), text: 'Bonn', limit: 3 })).toHaveLength(1);
    expect(await world.memories.search({ reader: world.reader(), text: 'Berlin', limit: 3 })).toHaveLength(0);
    expect(await world.memories.add({ text: 'ada lives in bonn', by: asAda(world) })).toMatchObject({ kind: 'known' });
  });

  it('exports everything about a person here and nothing of others', async () => {
    await using world = await openWorld();
    await world.say('I row', { key: general });
    await world.say('I swim', { by: bob, key: general });
    await world.say('a secret of the DM');
    await world.learn([{ text: 'Ada rows often', about: 'Ada', sources: [1] }], { key: general });
    await world.learn([{ text: 'Bob swims often', about: 'Bob', sources: [2] }], { key: general });
    world.time.now += 60_000;
    const copy = await world.memories.exportFor(ada.id, asAda(world, general));
    expect(copy.memories.map((memory) => memory.text)).toEqual(['Ada rows often']);
    expect(copy.memories[0]?.events).toHaveLength(1);
    expect(copy.messages.map(({ id, parts }) => [id, parts])).toEqual([['m1', [{ kind: 'text', text: 'I row' }]]]);
    expect(JSON.parse(JSON.stringify(copy))).toEqual(copy);
    const [exported] = copy.memories;
    if (exported === undefined) throw new Error('nothing was exported');
    const { memory, events } = await world.memories.why(exported.id, asAda(world, general).reader);
    expect(events.map(({ kind, actor }) => [kind, actor]).at(-1)).toEqual(['exported', ada.id]);
    expect(memory.updatedAt).toBe(exported.updatedAt);
  });

  it('notes exports once a day and person', async () => {
    await using world = await openWorld();
    const id = await world.plant('Ada lives in Berlin');
    const copyBy = (by: Parameters<typeof world.memories.exportFor>[1]) => world.memories.exportFor(ada.id, by);
    const count = async () => (await world.memories.why(id, asAda(world).reader)).events.length;
    const before = await count();
    for (let copy = 0; copy < 5; copy += 1) await copyBy(asAda(world));
    expect(await count()).toBe(before + 1);
    await copyBy({ ...asAda(world), author: bob, rights: 'operator' });
    expect(await count()).toBe(before + 2);
    world.time.now += DAY_MS;
    await copyBy(asAda(world));
    expect(await count()).toBe(before + 3);
  });
});

/** Names of files of the store that still hold the text. */
function inFiles(world: World, text: string): readonly string[] {
  return readdirSync(world.directory).filter((name) => readFileSync(join(world.directory, name)).includes(text));
}
