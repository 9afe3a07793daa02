import { expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { makeKey } from '../../../src/adapter-kit.ts';
import { BOB, createBotWorld, HERE } from '../../support/bot-world.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

/** One busy person or conversation does not hold up the others. */

it('a hundred messages delay another person by one turn', async () => {
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel(
    async (_, { count }) => {
      if (count === 1) await gate.promise;
      return { text: `Answer ${count}` };
    },
    { id: 'test:chat' },
  );
  await using world = await createBotWorld({ models: [model] });
  for (let index = 1; index <= 100; index += 1) await world.say(`Ada asks ${index}`, { id: `a${index}` });
  await world.say('Bob asks once', { id: 'b1', author: BOB });
  gate.resolve();
  await world.settled();
  expect(model.requests).toHaveLength(2);
  expect(JSON.stringify(model.requests[1])).toContain('Bob asks once');
  expect([...world.channel.posts.values()].map(({ body }) => body.text)).toEqual(['Answer 1', 'Answer 2']);
  expect([...world.channel.posts.values()].at(-1)?.replyTo).toBe('b1');
});

it('fifty conversations whose model hangs delay no other', async () => {
  const model = scriptedModel(
    async ({ messages }, { signal }) => {
      if (JSON.stringify(messages).includes('Hang')) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      }
      return { text: 'At once.' };
    },
    { id: 'test:chat' },
  );
  await using world = await createBotWorld({ models: [model] });
  const keys = Array.from({ length: 50 }, (_, index) =>
    makeKey({ platform: 'test', workspace: 'here', channel: `busy${index}` }),
  );
  // One person alone has eight replies at once.
  const people = keys.map((_, index) => ({ id: `u${index}`, name: `P${index}`, kind: 'person' }) as const);
  await Promise.all(keys.map((key, index) => world.say('Hang', { key, id: `m-${key}`, author: people[index] ?? BOB })));
  await until(() => model.requests.length === 50);
  const beganAt = world.clock.now();
  await world.say('And me?', { key: HERE });
  await until(() => world.channel.posts.size === 1);
  expect([...world.channel.posts.values()].map(({ conversation }) => conversation)).toEqual([HERE]);
  expect(world.clock.now()).toBe(beganAt);
});

it('a conversation that is always kicked lets the others run', async () => {
  const queue = createLocalQueue();
  const order: number[] = [];
  queue.process(
    async (id) => {
      order.push(id);
      // Always due again, like a long backlog.
      if (order.length < 20 && id === 1) queue.kick(1);
    },
    { concurrency: 1, signal: new AbortController().signal },
  );
  for (const id of [1, 2, 3]) queue.kick(id);
  await queue.idle();
  expect(order.slice(0, 4)).toEqual([1, 2, 3, 1]);
  await queue.close({ deadlineMs: 0 });
});
