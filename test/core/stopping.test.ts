import { expect, test } from 'vitest';
import { createBotWorld } from '../support/bot-world.ts';
import { scriptedModel, until } from './compaction.world.ts';

// Shows: W33
test('a stop finishes the owed reply and starts no other', async () => {
  const reply = Promise.withResolvers<void>();
  const model = scriptedModel(
    async ({ messages }) => {
      await reply.promise;
      return { text: JSON.stringify(messages.at(-1)).includes('second') ? 'To the second.' : 'To the first.' };
    },
    { id: 'test:chat' },
  );
  await using world = await createBotWorld({ models: [model] });
  const posted = () => [...world.channel.posts.values()].map(({ body }) => body.kind === 'text' && body.text);
  await world.say('the first question');
  await until(() => model.requests.length === 1);
  const stopped = world.bot.stop({ deadlineMs: 60_000 });
  expect(await world.say('the second question')).toMatchObject({ stored: true });
  reply.resolve();
  await stopped;
  expect(posted()).toEqual(['To the first.']);
  await world.restart();
  await world.settled();
  expect(posted()).toEqual(['To the first.', 'To the second.']);
});
