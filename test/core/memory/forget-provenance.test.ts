import { describe, expect, it } from 'vitest';
import { makeKey, placeOf, type SummaryId, textOf } from '../../../src/adapter-kit.ts';
import { ada, dm, general, memoryOf, openWorld, type World } from './memory.world.ts';

const asAda = (world: World, key = general) => ({ reader: world.reader(key), author: ada, rights: 'member' as const });

async function texts(world: World, key = general): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation(key);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.map((entry) => textOf(entry.parts));
}

/** Summaries of these ranges, from the beginning. */
async function summarise(
  world: World,
  layers: readonly (readonly [fromSeq: number, toSeq: number, text: string])[],
  key = dm,
): Promise<void> {
  const { id: conversationId } = await world.conversation(key);
  const { now } = world.time;
  const won = await world.store.conversations.claim({ work: 'maintenance', conversationId, now, leaseMs: 60_000 });
  const base = { level: 0, tokens: 9, model: 'm', promptHash: 'p', createdAt: now };
  for (const [fromSeq, toSeq, text] of layers) {
    const summary = { ...base, id: `s${fromSeq}` as SummaryId, fromSeq, toSeq, text };
    const commit = { conversationId, epoch: won?.claim.epoch ?? 0, summary, memories: [], extracted: null, now };
    expect(await world.store.summaries.commitCompaction(commit)).toBe('committed');
  }
}

describe('what was derived from a forgotten message', () => {
  it('goes with it when repeated without digits and capitals', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish', { key: general });
    await world.answer('swordfish, got it', { key: general });
    await world.answer('The weather is fine.', { key: general });
    const { ids } = await world.learn([{ text: "Ada's password is swordfish", about: 'Ada' }], { key: general });
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world));
    expect(await texts(world)).toEqual(['', '', 'The weather is fine.']);
  });

  it('includes another memory of the message that says the same', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish, and I row on Sundays');
    const { ids } = await world.learn([
      { text: "Ada's password is swordfish", about: 'Ada' },
      { text: 'Ada logs in with swordfish everywhere', about: 'Ada' },
      { text: 'Ada rows on Sundays', about: 'Ada' },
    ]);
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world, dm));
    expect((await world.all()).map((memory) => memory.text)).toEqual(['Ada rows on Sundays']);
  });

  it('includes the older statement that it had replaced', async () => {
    await using world = await openWorld();
    await world.say('I live in Berlin');
    await world.learn([{ text: 'Ada lives in Berlin', about: 'Ada', sources: [1] }]);
    world.time.now += 1000;
    await world.say('I live in Paris now');
    await world.learn([{ text: 'Ada lives in Paris', about: 'Ada', sources: [2] }], { extractedUpto: 1 });
    const all = await world.all();
    expect(all.map((memory) => memory.state).toSorted()).toEqual(['active', 'superseded']);
    const active = all.find((memory) => memory.state === 'active');
    await world.forget({ kind: 'memories', ids: [active?.id ?? ''] }, asAda(world, dm));
    expect(await world.all()).toEqual([]);
    expect(await texts(world, dm)).toEqual(['', '']);
  });

  it.each([
    ['repeats it', 'Ada, whose word is swordfish, talked.'],
    ['spells it otherwise', 'Ada enters with s-w-o-r-d-f-i-s-h.'],
  ])('includes a later summary that %s', async (_name, text) => {
    await using world = await openWorld();
    await world.say('my password is swordfish');
    for (let index = 0; index < 8; index += 1) await world.say(`talk number ${index}`);
    const { ids } = await world.learn([{ text: "Ada's password is swordfish", about: 'Ada' }]);
    const { id } = await world.conversation();
    await summarise(world, [
      [1, 3, 'They met.'],
      [4, 6, text],
    ]);
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world, dm));
    expect((await world.store.summaries.live(id)).map(({ kind, text }) => [kind, text])).toEqual([
      ['gap', ''],
      ['gap', ''],
    ]);
  });

  it('includes outdated summaries of what was said before an edit', async () => {
    await using world = await openWorld();
    const { externalId } = await world.say('my password is swordfish', { key: general });
    await world.say('good morning', { key: general });
    await summarise(world, [[1, 2, 'Ada said swordfish.']], general);
    const { id } = await world.conversation(general);
    const edit = { externalId: externalId ?? '', parts: [{ kind: 'text', text: 'never mind' } as const], tokens: 3 };
    await world.store.transcript.edit(id, { ...edit, now: world.time.now });
    await world.answer('swordfish, got it', { key: general });
    const planted = await world.plant("Ada's password is swordfish", { place: placeOf(general) }, [3]);
    await world.forget({ kind: 'memories', ids: [planted] }, asAda(world));
    expect((await world.store.summaries.live(id)).map(({ kind, text }) => [kind, text])).toEqual([['gap', '']]);
  });

  it('includes replies in other channels that received the memory', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    const random = makeKey({ platform: 'test', workspace: 'w', channel: 'random' });
    await world.say('my password is swordfish', { key: general });
    const { ids } = await world.learn([{ text: "Ada's password is swordfish", about: 'Ada' }], { key: general });
    await world.say('what do you know of Ada?', { key: random });
    const { id } = await world.conversation(random);
    const memoryIds = ids.filter((memoryId) => memoryId !== null);
    await world.store.memories.recalled(memoryIds, { conversationId: id, now: world.time.now });
    await world.answer('swordfish, they say', { key: random });
    await world.answer('Nothing else.', { key: random });
    await world.forget({ kind: 'memories', ids: memoryIds }, asAda(world));
    expect(await texts(world, random)).toEqual(['what do you know of Ada?', '', 'Nothing else.']);
  });

  it('does not come back in another order of words', async () => {
    await using world = await openWorld();
    await world.say('I prefer green tea in the morning');
    const { ids } = await world.learn([{ text: 'Ada prefers green tea in the morning', sources: [1] }]);
    await world.forget({ kind: 'memories', ids: [ids[0] ?? ''] }, asAda(world, dm));
    await world.say('in the morning I prefer green tea, what else');
    const again = await world.learn([{ text: 'In the morning Ada prefers green tea', sources: [2] }]);
    expect(again.ids).toEqual([]);
  });
});

describe('a turn that runs while something is forgotten', () => {
  it('saves nothing any more', async () => {
    await using world = await openWorld();
    await world.say('good morning');
    const planted = await world.plant("Ada's password is swordfish");
    const { id } = await world.conversation();
    const request = { work: 'reply', conversationId: id, now: world.time.now, leaseMs: 60_000 } as const;
    const won = await world.store.conversations.claim(request);
    if (won === null) throw new Error('the reply was not claimed');
    const preview = await world.memories.previewForget({ kind: 'memories', ids: [planted] }, asAda(world, dm));
    expect(preview.messages).toEqual([]);
    await world.memories.forget(preview);
    const writes = [{ kind: 'insert', memory: memoryOf('Ada opens doors with swordfish'), sources: [1] }] as const;
    const save = { conversationId: id, writes, actor: 'agent:main', now: world.time.now };
    expect(await world.store.memories.save({ ...save, replyEpoch: won.claim.epoch })).toEqual([null]);
    expect(await world.all()).toEqual([]);
  });
});
