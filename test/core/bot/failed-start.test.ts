import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { BotOptions, Channel, Clock, Queue, Storage } from '../../../src/adapter-kit.ts';
import { createBot, silentLog } from '../../../src/index.ts';
import { openApp } from '../../../src/program.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

const model = scriptedModel(() => ({ text: 'Yes.' }), { id: 'test:chat' });
/** Sweeps follow each other at once. */
const hasty: Clock = { now: Date.now, sleep: (_, { signal }) => sleep(1, undefined, { signal }) };

let directory: string;
let storage: Storage;
let calls: string[];
let sweeps: number;

beforeEach(async () => {
  directory = await createStoreFolder('failed-start');
  storage = await createSqliteStorage({ directory });
  calls = [];
  sweeps = 0;
});

afterEach(async () => {
  await storage.store.close();
  await rm(directory, { recursive: true });
});

function make(options: Partial<BotOptions>) {
  return createBot({
    storage,
    queue: createLocalQueue({ log: silentLog }),
    models: { open: async () => model, choose: async () => ({ modelId: model.id, reason: 'it is the only one' }) },
    clock: hasty,
    log: silentLog,
    ...options,
  });
}

function channelOf(platform: string, start: Channel['start']): Channel {
  return {
    platform,
    traits: { idempotentPosts: true, ephemeral: true, commandPrefix: '/', personIds: 'workspace' },
    linkTo: async () => null,
    start(sink) {
      calls.push(`start ${platform}`);
      return start(sink);
    },
    split: (text) => [{ kind: 'text', text }],
    post: async ({ nonce }) => ({ platformMessageId: nonce }),
    show: () => undefined,
    stop: async () => void calls.push(`stop ${platform}`),
  };
}

const good = () => channelOf('good', async () => undefined);
const bad = () => channelOf('bad', () => Promise.reject(new Error('The token is wrong.')));

function countingSweeps({ store, ...rest }: Storage): Storage {
  const { conversations } = store;
  const due: typeof conversations.due = async (work, request) => {
    if (work === 'maintenance') sweeps += 1;
    return await conversations.due(work, request);
  };
  return { ...rest, store: { ...store, conversations: { ...conversations, due } } };
}

function withoutOutbox({ store, ...rest }: Storage): Storage {
  const take = () => Promise.reject(new Error('The outbox is broken.'));
  return { ...rest, store: { ...store, outbox: { ...store.outbox, take } } };
}

it.each([
  ['a channel', () => ({ channels: [good(), bad()], storage: countingSweeps(storage) }), 'The token is wrong.'],
  [
    'the store',
    () => ({ channels: [good()], storage: withoutOutbox(countingSweeps(storage)) }),
    'The outbox is broken.',
  ],
])('a start that %s fails stops the rest', async (_, options, reason) => {
  const bot = make(options());
  await expect(bot.start()).rejects.toThrow(reason);
  expect(calls).toContain('stop good');
  const [calledUntil, sweptUntil] = [calls.length, sweeps];
  await sleep(30);
  await bot.stop();
  expect(calls).toHaveLength(calledUntil);
  expect(sweeps).toBe(sweptUntil);
});

it('a failed start runs no jobs', async () => {
  const bot = make({ channels: [bad()] });
  await expect(bot.start()).rejects.toThrow('The token is wrong.');
  bot.services.queue.kick(1);
  await sleep(30);
  expect(bot.services.queue.stats()).toMatchObject({ waiting: 1, running: 0 });
  await bot.stop();
});

it('a bot does not close the queue of another', async () => {
  let closings = 0;
  const queue: Queue = {
    ...createLocalQueue({ log: silentLog }),
    close: async () => {
      closings += 1;
    },
  };
  const owner = make({ queue });
  await owner.start();
  const intruder = make({ queue });
  await expect(intruder.start()).rejects.toThrow('Two bots use one queue.');
  await intruder.stop();
  expect(closings).toBe(0);
  await owner.stop();
  expect(closings).toBe(1);
});

it('an app that cannot start stops its plugins', async () => {
  const module = pathToFileURL(resolve('src/plugins/plugin.ts')).href;
  const plugin = (name: string, start: string) => {
    const stop = `async stop() { globalThis.pluginsStopped = [...(globalThis.pluginsStopped ?? []), '${name}']; }`;
    const text = `import { definePlugin } from '${module}';\nexport default definePlugin({ name: '${name}', async start() { ${start} }, ${stop} });\n`;
    return writeFile(join(directory, `${name}.ts`), text);
  };
  await plugin('good', '');
  await plugin('bad', "throw new Error('The shop is closed.');");
  const config = join(directory, 'config.toml');
  await writeFile(config, 'plugins = ["./good.ts", "./bad.ts"]\n');
  const app = await openApp({ config, data: join(directory, 'app'), platforms: [] });
  await expect(app.start()).rejects.toThrow('The shop is closed.');
  expect(Reflect.get(globalThis, 'pluginsStopped')).toEqual(['bad', 'good']);
  await app.close();
});
