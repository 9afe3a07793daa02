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
