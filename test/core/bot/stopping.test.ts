import { expect, test } from 'vitest';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { type Channel, makeKey, type Post } from '../../../src/adapter-kit.ts';
import { createBot, silentLog } from '../../../src/index.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { ADA, createBotWorld } from '../../support/bot-world.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { scriptedModel, until } from '../compaction/compaction.world.ts';

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

test('a post is tried again as soon after a restart', async () => {
  await using world = await createBotWorld({
    models: [scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' })],
  });
  const { trouble, calls, posts } = world.channel;
  trouble.refuse = 100;
  await world.say('Is it?');
  await until(() => calls.length === 1);
  await world.clock.advance(MINUTE_MS);
  const tried = calls.length;
  trouble.refuse = 1;
  await world.restart();
  const startedAt = world.clock.now();
  while (posts.size === 0) await world.clock.advance(100);
  expect(calls.length).toBe(tried + 2);
  expect(world.clock.now() - startedAt).toBeLessThan(5_000);
});

/** Cannot be stopped. */
function stuckChannel(onPost: (post: Post) => void): Channel {
  return {
    platform: 'test',
    traits: { idempotentPosts: false, ephemeral: false, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start: async () => undefined,
    split: (text) => [{ kind: 'text', text }],
    async post(post) {
      onPost(post);
      return { platformMessageId: post.nonce };
    },
    show: () => undefined,
    stop: () => Promise.reject(new Error('The socket is stuck.')),
  };
}

test('a channel that fails to stop costs no owed reply', async () => {
  const reply = Promise.withResolvers<void>();
  const model = scriptedModel(
    async () => {
      await reply.promise;
      return { text: 'Here it is.' };
    },
    { id: 'test:chat' },
  );
  const posted: string[] = [];
  const bot = createBot({
    storage: await createSqliteStorage({ directory: await createStoreFolder('stuck') }),
    queue: createLocalQueue(),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    channels: [stuckChannel(({ body }) => posted.push(body.text))],
    log: silentLog,
  });
  await bot.start();
  await bot.sink.message({
    conversation: makeKey({ platform: 'test', workspace: 'here', channel: 'talk' }),
    externalId: 'm1',
    author: ADA,
    text: 'Where is it?',
    attachments: [],
    replyTo: null,
    mentions: [],
    addressesBot: true,
    audience: 'private',
    at: Date.now(),
  });
  await until(() => model.requests.length === 1);
  const stopped = bot.stop({ deadlineMs: 60_000 });
  setTimeout(reply.resolve, 50);
  await expect(stopped).rejects.toThrow('The socket is stuck.');
  expect(posted).toEqual(['Here it is.']);
});

test('a channel that fails to stop keeps nothing else open', async () => {
  const storage = await createSqliteStorage({ directory: await createStoreFolder('stop') });
  const local = createLocalQueue();
  const closed: string[] = [];
  const queue = {
    ...local,
    async close(options: { readonly deadlineMs: number }) {
      closed.push('queue');
      await local.close(options);
    },
  };
  const store = {
    ...storage.store,
    async close() {
      closed.push('store');
      await storage.store.close();
    },
  };
  const channel = stuckChannel(() => undefined);
  const models = createAiSdkModels({ environment: {} });
  const bot = createBot({ storage: { ...storage, store }, queue, models, channels: [channel], log: silentLog });
  await bot.start();
  await expect(bot.stop({ deadlineMs: 100 })).rejects.toThrow('The socket is stuck.');
  expect(closed).toEqual(['queue', 'store']);
});
