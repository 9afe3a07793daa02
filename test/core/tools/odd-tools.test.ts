import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type JsonValue, type Tool } from '../../../src/adapter-kit.ts';
import { type BotWorld, createBotWorld } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

/** Zod passes such values on as they are. */
const anything = z.object({ filter: z.any() });
type Anything = z.infer<typeof anything>;

const lookBy = (run: Tool<Anything>['run']) =>
  defineTool({ name: 'look', description: 'Looks around.', input: anything, run });

/** A bot whose model calls the tool once and then answers. */
async function playWith(tool: Tool, input: JsonValue = { filter: { color: 'red' } }): Promise<BotWorld> {
  const model = scriptedModel(
    (_, { count }) => (count === 1 ? { calls: [{ tool: tool.name, input }] } : { text: 'Seen.' }),
    { id: 'test:chat' },
  );
  const world = await createBotWorld({ models: [model], tools: [tool], agent: { tools: [tool.name] } });
  await world.say('What is there?');
  await world.settled();
  return world;
}

const posted = ({ channel }: BotWorld) => [...channel.posts.values()].map(({ body }) => body.text);

async function partsOf(world: BotWorld) {
  return (await world.entries()).flatMap(({ parts }) => parts);
}

describe('a tool that changes its input', () => {
  const changes: Record<string, (filter: object) => void> = {
    'to contain itself': (filter) => void Object.assign(filter, { filter }),
    'to a number that JSON lacks': (filter) => void Object.assign(filter, { least: 10n }),
    'to another value': (filter) => void Object.assign(filter, { color: 'blue' }),
  };

  it.each(Object.keys(changes))('%s leaves the stored call alone', async (change) => {
    const tool = lookBy(({ filter }) => {
      changes[change]?.(filter);
      return 'A lighthouse.';
    });
    await using world = await playWith(tool);
    expect(posted(world)).toEqual(['Seen.']);
    const call = (await partsOf(world)).find(({ kind }) => kind === 'tool-call');
    expect(call).toMatchObject({ input: { filter: { color: 'red' } } });
  });
});

async function resultOf(world: BotWorld) {
  return (await partsOf(world)).find((part) => part.kind === 'tool-result');
}

describe('a result that is no JSON', () => {
  const results: Record<string, [made: () => unknown, problem: RegExp]> = {
    'a map': [() => new Map([['tea', 2]]), /Map is neither text nor JSON/],
    'a set among other values': [() => ({ names: [{}, new Set(['Ada'])] }), /Set is neither/],
    'a promise without await': [() => ({ page: Promise.resolve('text') }), /Promise is neither/],
    'an error': [() => new Error('no tea'), /Error is neither/],
    'a response': [() => new Response('text'), /Response is neither/],
    'a large number': [() => 10n, /serialize a BigInt/],
  };

  it.each(Object.keys(results))('is reported with its kind: %s', async (kind) => {
    const [made, problem] = results[kind] ?? [];
    const tool = lookBy(() => made?.() as string);
    await using world = await playWith(tool);
    const text = expect.stringMatching(problem ?? '');
    expect(await resultOf(world)).toMatchObject({ isError: true, text });
    expect(await resultOf(world)).toMatchObject({ text: expect.stringContaining('The tool look ran, but') });
  });

  it.each<[string, () => unknown, string]>([
    ['empty objects and lists', () => ({ found: {}, all: [] }), '{"found":{},"all":[]}'],
    [
      'objects that name their JSON',
      () => ({ on: new Date(0), none: {} }),
      '{"on":"1970-01-01T00:00:00.000Z","none":{}}',
    ],
    ['an object without a class', () => Object.create(null), '{}'],
  ])('is none of these: %s', async (_, made, text) => {
    await using world = await playWith(lookBy(() => made() as string));
    expect(await resultOf(world)).toMatchObject({ isError: false, text });
  });
});

describe('an input that its schema looks up', () => {
  const known = z.object({ id: z.string().refine(async (id) => id === '7', 'nobody has this number') });
  const find = defineTool({ name: 'find', description: 'Finds.', input: known, run: ({ id }) => `Found ${id}.` });

  it.each([
    ['7', { isError: false, text: 'Found 7.' }],
    ['8', { isError: true, text: expect.stringContaining('nobody has this number') }],
  ])('is checked: %s', async (id, result) => {
    await using world = await playWith(find as Tool, { id });
    expect(await resultOf(world)).toMatchObject(result);
  });
});
