import { describe, expect, it } from 'vitest';
import { type BlobId, type ConversationKey, makeKey, type SummaryId, textOf } from '../../../src/adapter-kit.ts';
import { removeMessages } from '../../../src/memory/forget/removal.ts';
import { createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';
import { bob, general, openWorld, type World } from './memory.world.ts';

async function texts(world: World, key: ConversationKey = general): Promise<readonly string[]> {
  const { id, nextSeq } = await world.conversation(key);
  const all = await world.store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1000 });
  return all.map((entry) => textOf(entry.parts));
}

async function remove(world: World, ...externalIds: readonly string[]) {
  return await removeMessages(world.services, await world.conversation(general), externalIds);
}

describe('a message that is deleted on its platform', () => {
  it('also deletes replies that repeat it', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish', { key: general });
    await world.answer('swordfish, got it', { key: general });
    await world.answer('The weather is fine.', { key: general });
    const removed = await remove(world, 'm1');
    expect(removed).toEqual({ seqs: [1, 2], elsewhere: [] });
    expect(await texts(world)).toEqual(['', '', 'The weather is fine.']);
  });

  it('also deletes long results, though this clock is behind', async () => {
    await using world = await openWorld();
    const sent = { at: world.time.now + 5_000, key: general };
    await world.say('my password is swordfish', sent);
    const { id: conversationId } = await world.conversation(general);
    const blob = { id: 'long' as BlobId, conversationId, text: 'a long result with swordfish', now: world.time.now };
    await world.store.blobs.put(blob);
    await remove(world, 'm1');
    expect(await world.store.blobs.read(blob.id, { conversationId, from: 0, length: 99 })).toBeNull();
  });

  it('deletes nothing that other people said', async () => {
    await using world = await openWorld();
    await world.say('the door code is 77120', { key: general });
    await world.say('77120 is the door code, thanks', { by: bob, key: general });
    await remove(world, 'm1');
    expect(await texts(world)).toEqual(['', '77120 is the door code, thanks']);
  });

  it('also deletes later summaries that repeat it', async () => {
    await using world = await openWorld();
    await world.say('my password is swordfish', { key: general });
    for (let index = 0; index < 6; index += 1) await world.say(`talk number ${index}`, { key: general });
    const { id } = await world.conversation(general);
    const request = { work: 'maintenance', conversationId: id, now: world.time.now, leaseMs: 60_000 } as const;
    const won = await world.store.conversations.claim(request);
    const base = { level: 0, tokens: 9, model: 'm', promptHash: 'p', createdAt: world.time.now };
    for (const [name, fromSeq, toSeq, text] of [
      ['s1', 1, 3, 'They met.'],
      ['s2', 4, 6, 'Ada, whose word is swordfish, talked.'],
    ] as const) {
      const summary = { ...base, id: name as SummaryId, fromSeq, toSeq, text };
      const commit = { conversationId: id, epoch: won?.claim.epoch ?? 0, summary, memories: [], extracted: null };
      await world.store.summaries.commitCompaction({ ...commit, now: world.time.now });
    }
    await remove(world, 'm1');
    expect((await world.store.summaries.live(id)).map(({ kind, text }) => [kind, text])).toEqual([
      ['gap', ''],
      ['gap', ''],
    ]);
  });

  it('also deletes replies elsewhere that used its memory', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    const random = makeKey({ platform: 'test', workspace: 'w', channel: 'random' });
    await world.say('my password is swordfish', { key: general });
    const { ids } = await world.learn([{ text: "Ada's password is swordfish", about: 'Ada' }], { key: general });
    await world.say('what do you know of Ada?', { key: random });
    const { id } = await world.conversation(random);
    const memoryIds = ids.filter((memoryId) => memoryId !== null);
    await world.store.memories.recalled(memoryIds, { conversationId: id, now: world.time.now });
    await world.answer('swordfish, they say', { key: random });
    const { elsewhere } = await remove(world, 'm1');
    expect(elsewhere.map(({ key }) => key)).toEqual([random]);
    expect(await texts(world, random)).toEqual(['what do you know of Ada?', '']);
    expect(await world.all(general)).toEqual([]);
  });

  it('also deletes replies elsewhere that are stored meanwhile', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    const random = makeKey({ platform: 'test', workspace: 'w', channel: 'random' });
    await world.say('my password is swordfish', { key: general });
    const { ids } = await world.learn([{ text: "Ada's password is swordfish", about: 'Ada' }], { key: general });
    await world.say('what do you know of Ada?', { key: random });
    const { id: conversationId } = await world.conversation(random);
    const memoryIds = ids.filter((memoryId) => memoryId !== null);
    const { transcript } = world.store;
    let looks = 0;
    const pick: typeof transcript.pick = async (id, seqs) => {
      const found = await transcript.pick(id, seqs);
      looks += 1;
      if (looks > 1) return found;
      await world.store.memories.recalled(memoryIds, { conversationId, now: world.time.now });
      await world.answer('swordfish, they say', { key: random });
      return found;
    };
    const services = { ...world.services, store: { ...world.store, transcript: { ...transcript, pick } } };
    const { elsewhere } = await removeMessages(services, await world.conversation(general), ['m1']);
    expect(await texts(world, random)).toEqual(['what do you know of Ada?', '']);
    expect(elsewhere.map(({ key }) => key)).toEqual([random]);
  });

  it('leaves replies elsewhere while another message says it', async () => {
    await using world = await openWorld({ memory: { share_public: true } });
    const random = makeKey({ platform: 'test', workspace: 'w', channel: 'random' });
    const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });
    const learned = { text: "Ada's password is swordfish", about: 'Ada' };
    await world.say('my password is swordfish', { key: general });
    const { ids } = await world.learn([learned], { key: general });
    await world.say('my password is swordfish', { key: thread });
    await world.learn([learned], { key: thread });
    await world.say('what do you know of Ada?', { key: random });
    const { id } = await world.conversation(random);
    const memoryIds = ids.filter((memoryId) => memoryId !== null);
    await world.store.memories.recalled(memoryIds, { conversationId: id, now: world.time.now });
    await world.answer('swordfish, they say', { key: random });
    await remove(world, 'm1');
    expect(await texts(world, random)).toEqual(['what do you know of Ada?', 'swordfish, they say']);
    expect(await world.all(general)).toHaveLength(1);
  });

  it('also deletes what it became while the channel was private', async () => {
    await using world = await openWorld({ recall: { places: false } });
    const thread = makeKey({ platform: 'test', workspace: 'w', channel: 'general', thread: 't' });
    await world.say('my password is swordfish', { key: general, audience: 'private' });
    const { ids } = await world.learn([{ text: "Ada's password is swordfish", about: 'Ada' }], { key: general });
    await world.say('what do you know of Ada?', { key: thread, audience: 'private' });
    const { id } = await world.conversation(thread);
    const memoryIds = ids.filter((memoryId) => memoryId !== null);
    await world.store.memories.recalled(memoryIds, { conversationId: id, now: world.time.now });
    await world.answer('swordfish, they say', { key: thread });
    await world.say('now everybody may read this', { key: general, audience: 'public' });
    expect((await world.conversation(general)).audience).toBe('public');
    await remove(world, 'm1');
    expect(await texts(world, thread)).toEqual(['what do you know of Ada?', '']);
  });

  it('does so when the channel reports the deletion', async () => {
    const model = scriptedModel(() => ({ text: 'swordfish, got it' }), { id: 'test:chat' });
    await using world = await createBotWorld({ models: [model] });
    await world.say('my password is swordfish');
    await world.settled();
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['m1'] });
    expect((await world.entries()).map(({ parts }) => textOf(parts))).toEqual(['', '']);
  });
});
