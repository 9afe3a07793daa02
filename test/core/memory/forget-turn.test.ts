import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type MemoryId, makeKey, workspaceOf } from '../../../src/adapter-kit.ts';
import { createBotWorld, HERE } from '../../support/bot-world.ts';
import { type Script, scriptedModel } from '../compaction/compaction.world.ts';
import { memoryOf } from './memory.world.ts';

const ELSEWHERE = makeKey({ platform: 'test', workspace: 'here', channel: 'elsewhere' });

async function worldWith(script: Script, ran: string[] = []) {
  const note = defineTool({
    name: 'note',
    description: 'Writes something down',
    input: z.object({ text: z.string() }),
    run: async ({ text }) => {
      ran.push(text);
      return 'noted';
    },
  });
  const model = scriptedModel(script, { id: 'test:chat' });
  const agent = { tools: ['note', 'memory_recall'], memory: { share_public: true } };
  return Object.assign(await createBotWorld({ models: [model], tools: [note], agent }), { model });
}

type World = Awaited<ReturnType<typeof worldWith>>;

async function remember(world: World, text: string): Promise<MemoryId> {
  const place = { place: HERE, workspace: workspaceOf(HERE), audience: 'public' } as const;
  const writes = [{ kind: 'insert', memory: memoryOf(text, { ...place, kind: 'fact' }), sources: [] }] as const;
  const save = { conversationId: null, writes, actor: 'test', now: world.clock.now() };
  const [id] = await world.bot.services.store.memories.save(save);
  if (!id) throw new Error('the memory was passed over');
  return id;
}

it('records that a reply elsewhere was given a shared fact', async () => {
  await using world = await worldWith(() => ({ text: 'Certainly.' }));
  const id = await remember(world, 'Ada wants every answer in verse');
  await world.say('Does Ada want every answer in verse?', { key: ELSEWHERE, audience: 'public' });
  await world.settled();
  const there = await world.bot.services.store.conversations.find(ELSEWHERE);
  expect(JSON.stringify(world.model.requests[0])).toContain('every answer in verse');
  expect(await world.bot.services.provenance.readings([id])).toEqual([
    { memoryId: id, conversationId: there?.id, fromSeq: 1 },
  ]);
});

it('answers again when a memory it was given is forgotten', async () => {
  const forget = { tombstones: [], redactions: [], sentences: [], actor: 'u1', now: 0 };
  await using world: World = await worldWith(async (_, { count }) => {
    if (count > 1) return { text: 'I do not know.' };
    await world.bot.services.store.memories.forget({ ...forget, memoryIds: [id] });
    return { text: 'swordfish, they say' };
  });
  const id = await remember(world, "Ada's password is swordfish");
  await world.say("What is Ada's password?", { key: ELSEWHERE, audience: 'public' });
  await world.settled();
  expect(JSON.stringify(world.model.requests[0])).toContain('swordfish');
  expect(JSON.stringify(world.model.requests[1])).not.toContain('swordfish');
  expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['I do not know.']);
});

it('runs no tool for a turn without its claim', async () => {
  const ran: string[] = [];
  await using world: World = await worldWith(async (_, { count }) => {
    if (count > 1) return { text: 'What did you say?' };
    const { id } = await world.conversation();
    // Straight into the store, as another process would.
    await world.bot.services.store.transcript.redact(id, { externalIds: ['m1'], now: world.clock.now() });
    return { calls: [{ tool: 'note', input: { text: 'swordfish' } }] };
  }, ran);
  await world.say('my password is swordfish');
  await world.say('hello?');
  await world.settled();
  expect(world.model.requests.length).toBeGreaterThan(1);
  expect(ran).toEqual([]);
});

it('runs no tool for a turn after a reset elsewhere', async () => {
  const ran: string[] = [];
  await using world: World = await worldWith(async (_, { count }) => {
    if (count > 1) return { text: 'Hello.' };
    const { id } = await world.conversation();
    await world.bot.services.store.conversations.change(id, { kind: 'reset', now: world.clock.now() });
    return { calls: [{ tool: 'note', input: { text: 'swordfish' } }] };
  }, ran);
  await world.say('my password is swordfish');
  await world.settled();
  expect(world.model.requests.length).toBeGreaterThan(0);
  expect(ran).toEqual([]);
});

it('answers again when a standing instruction is forgotten', async () => {
  const forget = { tombstones: [], redactions: [], sentences: [], actor: 'u1', now: 0 };
  await using world: World = await worldWith(async (_, { count }) => {
    if (count > 1) return { text: 'I do not know.' };
    await world.bot.services.store.memories.forget({ ...forget, memoryIds: id ? [id] : [] });
    return { text: 'swordfish, they say' };
  });
  const place = { place: HERE, workspace: workspaceOf(HERE), audience: 'private' } as const;
  const memory = memoryOf('Greet everybody with swordfish', { ...place, kind: 'instruction', pinned: true });
  const save = { conversationId: null, writes: [{ kind: 'insert', memory, sources: [] }], actor: 'test' } as const;
  const [id] = await world.bot.services.store.memories.save({ ...save, now: world.clock.now() });
  await world.say('Good morning.');
  await world.settled();
  expect(JSON.stringify(world.model.requests[0]?.system)).toContain('swordfish');
  expect(JSON.stringify(world.model.requests[1])).not.toContain('swordfish');
  expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['I do not know.']);
});

it('runs no tool for a turn whose memory was forgotten', async () => {
  const ran: string[] = [];
  const forget = { tombstones: [], redactions: [], sentences: [], actor: 'u1', now: 0 };
  await using world: World = await worldWith(async (_, { count }) => {
    if (count > 1) return { text: 'I do not know.' };
    await world.bot.services.store.memories.forget({ ...forget, memoryIds: [id] });
    return { calls: [{ tool: 'note', input: { text: 'swordfish' } }] };
  }, ran);
  const id = await remember(world, "Ada's password is swordfish");
  await world.say("What is Ada's password?", { key: ELSEWHERE, audience: 'public' });
  await world.settled();
  expect(JSON.stringify(world.model.requests[0])).toContain('swordfish');
  expect(ran).toEqual([]);
  expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['I do not know.']);
});

it('repeats no recalled memory after its source was deleted', async () => {
  await using world: World = await worldWith(async (_, { count }) => {
    if (count === 1) return { calls: [{ tool: 'memory_recall', input: { query: 'swordfish password' } }] };
    if (count > 2) return { text: 'I do not know.' };
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['source'] });
    return { text: 'swordfish, they say' };
  });
  await world.say('my password is swordfish', { id: 'source', audience: 'public', asks: false });
  const place = { place: HERE, workspace: workspaceOf(HERE), audience: 'public' } as const;
  const writes = [{ kind: 'insert', memory: memoryOf("Ada's password is swordfish", place), sources: [1] }] as const;
  const { id } = await world.conversation();
  await world.bot.services.store.memories.save({ conversationId: id, writes, actor: 'test', now: world.clock.now() });
  await world.say('What do you know?', { key: ELSEWHERE, audience: 'public' });
  await world.settled();
  expect(JSON.stringify(world.model.requests[1])).toContain('swordfish');
  expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['I do not know.']);
});
