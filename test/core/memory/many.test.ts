import { describe, expect, it, vi } from 'vitest';
import { type ConversationKey, type MemoryId, type MemoryWrite, makeKey, placeOf } from '../../../src/adapter-kit.ts';
import { ada, bob, dm, general, memoryOf, openWorld } from './memory.world.ts';

function inserting(text: string, sources: readonly number[] = []): MemoryWrite {
  return { kind: 'insert', memory: memoryOf(text), sources };
}

describe('many memories', () => {
  // Shows: T28
  it('10,000 are saved, merged and searched fast', async () => {
    await using world = await openWorld();
    const texts = Array.from({ length: 10_000 }, (_, index) => `Ada keeps box ${index} on shelf ${index % 97}`);
    const save = async (batch: readonly string[]) => {
      const writes = batch.map((text) => inserting(text));
      // CPU time of this process alone, so that other load on the machine does not count.
      const before = process.cpuUsage();
      await world.store.memories.save({ conversationId: null, writes, actor: 'model', now: world.time.now });
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const times: number[] = [];
    for (let first = 0; first < texts.length; first += 100) times.push(await save(texts.slice(first, first + 100)));
    const [early, late] = [times.slice(10, 30), times.slice(-20)].map(
      (some) => some.toSorted((a, b) => a - b)[10] ?? 0,
    );
    // The second thousands against the last ones: what took the square of their number would grow to five times as much.
    expect(late).toBeLessThan((early ?? 0) * 3);
    for (let first = 0; first < 1000; first += 100) await save(texts.slice(first, first + 100));
    const page = { reader: world.reader(), limit: 20_000, offset: 0 };
    expect(await world.store.memories.list(page)).toHaveLength(10_000);
    const [hit] = await world.search.memories({ reader: world.reader(), text: 'box 4711', limit: 1 });
    const [found] = await world.store.memories.list({ ...page, ids: hit === undefined ? [] : [hit.id] });
    expect(found?.text).toBe('Ada keeps box 4711 on shelf 55');
  }, 120_000);

  // Shows: B16, T29
  it('from eight writers at once are each there once', async () => {
    await using world = await openWorld();
    await world.say('a long story');
    const { id } = await world.conversation(dm);
    const own = (worker: number, index: number) =>
      index % 2 === 0 ? `Ada owns boat ${index}` : `Ada owns boat ${index} of fleet ${worker}`;
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let index = 0; index < 40; index += 1) {
          const writes = [inserting(own(worker, index), [1])];
          await world.store.memories.save({ conversationId: id, writes, actor: 'model', now: world.time.now });
        }
      }),
    );
    const texts = (await world.all()).map(({ text }) => text);
    expect(texts).toHaveLength(20 + 8 * 20);
    expect(new Set(texts).size).toBe(texts.length);
  }, 120_000);

  it('that share their words are forgotten in a moment', async () => {
    await using world = await openWorld();
    const things = ['boat', 'garden', 'river', 'shelf', 'lantern', 'kettle', 'ladder', 'anchor'];
    const said = (index: number) =>
      `Ada keeps the ${things[index % 8]} near the ${things[(index * 3) % 8]} of the harbour.`;
    for (let index = 0; index < 1500; index += 1) {
      if (index % 3 === 2) await world.answer(`I heard that ${said(index)}`, { key: general });
      else await world.say(said(index), { by: index % 2 === 0 ? ada : bob, key: general });
    }
    const { id } = await world.conversation(general);
    const about = { place: placeOf(general), audience: 'public', subjectId: ada.id, subjectName: ada.name } as const;
    const writes = Array.from({ length: 60 }, (_, index): MemoryWrite => {
      const text = `Ada keeps the ${things[index % 8]} near the ${things[(index * 5) % 8]} of the harbour.`;
      return {
        kind: 'insert',
        memory: memoryOf(text, { ...about, fingerprint: `f${index}` }),
        sources: [index * 24 + 1],
      };
    });
    await world.store.memories.save({ conversationId: id, writes, actor: 'model', now: world.time.now });
    const by = { author: ada, rights: 'operator', reader: world.reader(general) } as const;
    const before = process.cpuUsage();
    const preview = await world.memories.previewForget({ kind: 'person', personId: ada.id }, by);
    const { user, system } = process.cpuUsage(before);
    expect(preview.memories).toHaveLength(60);
    expect((user + system) / 1000).toBeLessThan(10_000);
  }, 240_000);
});

it('many memories are forgotten with their other wordings', async () => {
  await using world = await openWorld();
  await world.say('hi', { key: general });
  const place = { place: placeOf(general), audience: 'public' } as const;
  const things = ['boat', 'garden', 'kettle', 'ladder', 'lantern'];
  const about = (index: number) => `Ada keeps ${things[index % 5]} ${index} near the old harbour of Bergen`;
  const ids = [];
  for (let index = 0; index < 120; index += 1) ids.push(await world.plant(about(index), place));
  const twin = await world.plant('Near the old Bergen harbour, Ada keeps boat 60', place);
  const stays = await world.plant('Near the old Bergen harbour, Ada keeps boat 65', { ...place, subjectId: 'u-bob' });
  const searched = vi.spyOn(world.search, 'memories');
  const forgotten = await world.forget(
    { kind: 'memories', ids },
    { reader: world.reader(general), author: ada, rights: 'member' },
  );
  expect(searched).not.toHaveBeenCalled();
  expect(forgotten.memoryIds).toContain(twin);
  expect((await world.all(general)).map(({ id }) => id)).toEqual([stays]);
});

it('short threads of a place are read, not searched', async () => {
  await using world = await openWorld();
  await world.say('Ada keeps a lantern in the harbour.', { key: general });
  const { id } = await world.conversation(general);
  const memory = memoryOf('Ada keeps a lantern in the harbour', { place: placeOf(general), audience: 'public' });
  await world.store.memories.save({
    conversationId: id,
    writes: [{ kind: 'insert', memory, sources: [1] }],
    actor: 'model',
    now: world.time.now,
  });
  world.time.now += 60_000;
  for (let thread = 0; thread < 5; thread += 1) {
    const key = `${general}:t${thread}` as ConversationKey;
    await world.say('Where is it?', { by: bob, key });
    await world.answer('Ada keeps a lantern in the harbour.', { key });
  }
  const [entries, summaries] = [vi.spyOn(world.search, 'entries'), vi.spyOn(world.search, 'summaries')];
  const by = { author: ada, rights: 'operator', reader: world.reader(general) } as const;
  const { messages } = await world.memories.previewForget({ kind: 'memories', ids: [memory.id] }, by);
  expect([entries.mock.calls, summaries.mock.calls]).toEqual([[], []]);
  expect(messages.filter(({ entry }) => entry.role === 'assistant')).toHaveLength(5);
});

it('many memories are not looked up in every thread', async () => {
  await using world = await openWorld();
  const random = makeKey({ platform: 'test', workspace: 'w', channel: 'random' });
  const threads = 30;
  for (let thread = 0; thread < threads; thread += 1) {
    await world.say('hi', { key: `${random}:t${thread}` as ConversationKey });
  }
  await world.say('hi', { key: general });
  const place = { place: placeOf(general), audience: 'public' } as const;
  const ids = [await world.plant('Ada likes tea', { ...place, place: random })];
  for (let index = 0; index < 40; index += 1) ids.push(await world.plant(`Ada keeps kettle ${index}`, place));
  let reads = 0;
  const { list } = world.store.conversations;
  vi.spyOn(world.store.conversations, 'list').mockImplementation(async (page) =>
    (await list(page)).map((conversation) =>
      Object.defineProperty({ ...conversation }, 'key', {
        get: () => {
          reads += 1;
          return conversation.key;
        },
      }),
    ),
  );
  const by = { author: ada, rights: 'operator', reader: world.reader(general) } as const;
  const readsFor = async (count: number) => {
    const before = reads;
    await world.memories.previewForget({ kind: 'memories', ids: ids.slice(0, count) }, by);
    return reads - before;
  };
  const [few, many] = [await readsFor(1), await readsFor(40)];
  // Each of the others is compared with each thread twice: whether it may be there, in two steps.
  expect(many - few).toBeLessThan(39 * threads * 2.5);
});

it('a copy of many memories is noted in few transactions', async () => {
  await using world = await openWorld();
  for (let index = 0; index < 40; index += 1) await world.plant(`Ada keeps kettle ${index}`);
  let [running, most] = [0, 0];
  const { change } = world.store.memories;
  vi.spyOn(world.store.memories, 'change').mockImplementation(async (...given) => {
    running += 1;
    most = Math.max(most, running);
    return await change(...given).finally(() => {
      running -= 1;
    });
  });
  const by = { author: ada, rights: 'member', reader: world.reader() } as const;
  const copy = await world.memories.exportFor(ada.id, by);
  expect([copy.memories.length, most]).toEqual([40, 32]);
  expect(await world.store.memories.events(copy.memories[39]?.id ?? ('' as MemoryId))).toMatchObject([
    { kind: 'added' },
    { kind: 'exported' },
  ]);
});

it('all held sentences are listed, however many', async () => {
  await using world = await openWorld();
  const sentences = Array.from({ length: 501 }, (_, index) => ({ id: `h${index}`, text: `Ada owns boat ${index}.` }));
  await world.say(sentences.map(({ text }) => text).join(' '), { by: bob, key: general });
  const { id: conversationId } = await world.conversation(general);
  const about = { id: ada.id, name: ada.name };
  const plan = { memoryIds: [], tombstones: [], redactions: [], actor: ada.id, now: world.time.now };
  await world.store.memories.forget({
    ...plan,
    sentences: [{ conversationId, seq: 1, kind: 'hold', about, sentences }],
  });
  const by = { author: bob, rights: 'moderator', reader: world.reader(general) } as const;
  const held = await world.memories.held(by);
  expect(held).toHaveLength(501);
  expect(held[500]).toMatchObject({ author: { id: bob.id }, about, seq: 1 });
});
