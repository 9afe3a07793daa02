import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, makeKey } from '../../../src/adapter-kit.ts';
import { type BotWorld, createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

const THREAD = makeKey({ platform: 'test', workspace: 'here', channel: 'talk', thread: 't1' });

/** The first request quotes a message of the channel. `change` happens to that message while the model answers. */
async function repliesAfter(change: (world: BotWorld) => Promise<unknown>) {
  const requests: string[] = [];
  const model = scriptedModel(async (request) => {
    if (request.purpose !== 'reply') return { text: 'NOTHING' };
    if (requests.push(JSON.stringify(request)) > 1) return { text: 'I do not know.' };
    await change(world);
    return { text: 'Your tent in Kirkenes is vermilion.' };
  });
  await using world: BotWorld = await createBotWorld({ models: [model], agent: { recall: { places: true } } });
  await world.say('My tent is vermilion and stands in Kirkenes.', { id: 'source', asks: false });
  await world.say('What colour is my tent?', { key: THREAD });
  await world.settled();
  return { requests, posts: [...world.channel.posts.values()].map(({ body }) => body.text) };
}

it.each<[string, (world: BotWorld) => Promise<unknown>]>([
  ['deleted', (world) => world.bot.sink.removed({ conversation: HERE, externalIds: ['source'] })],
  ['forgotten', (world) => world.command('memory forget', { id: '#1', confirm: 'yes' })],
  [
    'edited',
    (world) => {
      const parts = [{ kind: 'text', text: 'My tent is small.' }] as const;
      return world.bot.sink.edited({ conversation: HERE, externalId: 'source', parts, at: world.clock.now() });
    },
  ],
])('a reply elsewhere repeats no message that is %s meanwhile', async (_, change) => {
  const { requests, posts } = await repliesAfter(change);
  expect(requests[0]).toContain('vermilion');
  expect(posts).toEqual(['I do not know.']);
  expect(requests[1]).not.toContain('vermilion');
});

it('a child of a tool repeats nothing deleted either', async () => {
  const research = defineTool({
    name: 'research',
    description: 'Finds something out',
    input: z.object({}),
    run: async (_, { spawn }) => (await spawn({ task: 'What colour is my tent?' })).text,
  });
  const replies: string[] = [];
  const model = scriptedModel(async (request) => {
    const text = JSON.stringify(request);
    if (request.purpose === 'extract' || replies.length > 2) return { text: 'I do not know.' };
    replies.push(text);
    if (replies.length === 1) return { calls: [{ tool: 'research', input: {} }] };
    if (replies.length === 2) return { text: 'It is vermilion.' };
    await world.bot.sink.removed({ conversation: HERE, externalIds: ['source'] });
    return { text: 'Your tent is vermilion.' };
  });
  const agent = { recall: { places: true }, tools: ['research'] };
  await using world: BotWorld = await createBotWorld({ models: [model], tools: [research], agent });
  await world.say('My tent is vermilion and stands in Kirkenes.', { id: 'source', asks: false });
  await world.say('Please ask the researcher.', { key: THREAD });
  await world.settled();
  expect(replies[0]).not.toContain('vermilion');
  expect(replies[1]).toContain('Kirkenes');
  expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['I do not know.']);
});
