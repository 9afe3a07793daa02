import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, ModelError, type ModelTraits } from '../../../src/index.ts';
import { createBotWorld } from '../../support/bot-world.ts';
import { type Said, type ScriptedModel, scriptedModel } from '../compaction/compaction.world.ts';

/** Models whose limits show only when they refuse a request, and the first message that they get. */

function teachable(
  refuse: (model: ScriptedModel, learn: (traits: Partial<ModelTraits>) => void) => Said | undefined,
  assumed: Partial<ModelTraits> = {},
): ScriptedModel {
  let learned = assumed;
  const model = scriptedModel(
    async () => {
      const said = refuse(taught, (traits) => {
        learned = { ...learned, ...traits };
      });
      return said ?? { text: 'Here you are.' };
    },
    { id: 'test:chat' },
  );
  const taught: ScriptedModel = {
    ...model,
    get traits() {
      return { ...model.traits, ...learned };
    },
  };
  return taught;
}

const posted = (here: Awaited<ReturnType<typeof createBotWorld>>) =>
  [...here.channel.posts.values()].map(({ body }) => body.text);

it('answers without tools where the server has none', async () => {
  const chat = teachable(({ requests }, learn) => {
    if (requests.at(-1)?.tools.length === 0) return;
    learn({ tools: false });
    throw new ModelError({ model: 'test:chat', reason: 'unsupported', detail: 'no tool parser' });
  });
  await using here = await createBotWorld({ models: [chat], agent: { tools: ['memory_recall'] } });
  await here.say('Hello?');
  await here.settled();
  await here.say('And again?');
  await here.settled();
  expect(posted(here)).toEqual(['Here you are.', 'Here you are.']);
  expect(chat.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0]);
});

it('answers without images where the model sees none', async () => {
  const image = 'data:image/png;base64,AAAA';
  const shows = (request: unknown) => JSON.stringify(request).includes(image);
  const refuse: Parameters<typeof teachable>[0] = ({ requests }, learn) => {
    if (!shows(requests.at(-1))) return;
    learn({ images: false });
    throw new ModelError({ model: 'test:chat', reason: 'unsupported', detail: 'no images' });
  };
  const chat = teachable(refuse, { images: true });
  await using here = await createBotWorld({ models: [chat] });
  const picture = {
    kind: 'attachment',
    name: 'a.png',
    mediaType: 'image/png',
    sizeBytes: 3,
    reference: image,
  } as const;
  await here.say('What is this?', { attachments: [picture] });
  await here.settled();
  expect(posted(here)).toEqual(['Here you are.']);
  expect(chat.requests.map(shows)).toEqual([true, false]);
});

it('offers no tools to a model that has none', async () => {
  const chat = scriptedModel(async () => ({ text: 'Here you are.' }), { id: 'test:chat', tools: false });
  await using here = await createBotWorld({ models: [chat], agent: { tools: ['memory_recall'] } });
  await here.say('Hello?');
  await here.settled();
  const [request] = chat.requests;
  expect(request?.tools).toEqual([]);
  expect(JSON.stringify(request?.system)).not.toContain('memory_recall');
});

it('spells tool calls out for a fallback without tools', async () => {
  const first = scriptedModel(
    async (_, { count }) => {
      if (count === 1) return { calls: [{ tool: 'memory_recall', input: { query: 'tea' } }] };
      throw new ModelError({ model: 'test:chat', reason: 'transient', detail: 'away' }, { retryAfterMs: 60_000 });
    },
    { id: 'test:chat' },
  );
  const second = scriptedModel(async () => ({ text: 'Here you are.' }), { id: 'test:second', tools: false });
  await using here = await createBotWorld({
    models: [first, second],
    agent: { model: ['test:chat', 'test:second'], tools: ['memory_recall'] },
  });
  await here.say('Do I like tea?');
  await here.settled();
  expect(posted(here)).toEqual(['Here you are.']);
  expect(first.requests[0]?.tools).toHaveLength(1);
  expect(second.requests[0]?.tools).toEqual([]);
  expect(second.requests[0]?.messages.map(({ role }) => role)).not.toContain('tool');
});

it('asks again within the window that a refusal names', async () => {
  const chat = teachable(({ requests }, learn) => {
    if (requests.at(-1)?.windowTokens === 6000) return;
    learn({ windowTokens: 6000 });
    throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too long' }, { windowTokens: 6000 });
  });
  await using here = await createBotWorld({ models: [chat], agent: { context_window: 'auto' } });
  await here.say('Hello?');
  await here.settled();
  expect(posted(here)).toEqual(['Here you are.']);
});

it('asks only once more', async () => {
  let window = 9000;
  const chat = teachable((_, learn) => {
    window -= 100;
    learn({ windowTokens: window });
    throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too long' }, { windowTokens: window });
  });
  await using here = await createBotWorld({ models: [chat], agent: { context_window: 'auto' } });
  await here.say('Hello?');
  await here.settled();
  expect(posted(here)[0]).toMatch(/^This conversation has become too long/);
  expect(chat.requests.length).toBeLessThanOrEqual(4);
});

it('runs no tool again after a refusal that teaches', async () => {
  let ran = 0;
  const look = defineTool({
    name: 'look',
    description: 'Looks something up',
    input: z.object({}),
    run: async () => `seen ${++ran}`,
  });
  const chat = teachable(({ requests }, learn) => {
    if (requests.at(-1)?.messages.at(-1)?.role !== 'tool') return { calls: [{ tool: 'look', input: {} }] };
    learn({ windowTokens: 6000 });
    throw new ModelError({ model: 'test:chat', reason: 'overflow', detail: 'too long' }, { windowTokens: 6000 });
  });
  await using here = await createBotWorld({
    models: [chat],
    tools: [look],
    agent: { context_window: 'auto', tools: ['look'] },
  });
  await here.say('Hello?');
  await here.settled();
  expect(ran).toBe(1);
  expect(posted(here)).toHaveLength(1);
});

it('says that the model of an agent does not exist', async () => {
  await using here = await createBotWorld({ models: [], agent: { model: 'test:nowhere' } });
  await here.say('Hello?');
  await here.settled();
  expect(here.events.flatMap((event) => (event.kind === 'turn.failed' ? [event.reason] : []))).toEqual(['missing']);
});
