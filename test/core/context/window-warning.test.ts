import { rmSync } from 'node:fs';
import { setImmediate as soon } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { type Bot, type BotOptions, createBot, type LogFields, silentLog } from '../../../src/adapter-kit.ts';
import { defaultAgent } from '../../../src/config/defaults.ts';
import { createAgentDirectory } from '../../../src/config/directory.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { scriptedModel } from '../compaction/compaction.world.ts';

const model = scriptedModel(() => ({ text: 'yes' }), { id: 'test:chat' });
const tight = { background_threshold: 0.2, aggressive_threshold: 0.3, emergency_threshold: 0.4 };

async function idle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await soon();
}

/** What a program logs about windows, and how often it opens a model. */
async function started(agents: NonNullable<BotOptions['agents']>, whileRunning = async (_: Bot) => {}) {
  const directory = await createStoreFolder('windows');
  const logged: (readonly [string, string, LogFields | undefined])[] = [];
  let opened = 0;
  await using bot = createBot({
    agents,
    storage: await createSqliteStorage({ directory }),
    queue: createLocalQueue({ log: silentLog }),
    models: {
      open: async () => {
        opened += 1;
        return model;
      },
      choose: async () => ({ modelId: model.id, reason: 'it is the only one' }),
    },
    log: {
      ...silentLog,
      warn: (message, fields) => logged.push(['warn', message, fields]),
      error: (message, fields) => logged.push(['error', message, fields]),
    },
  });
  await bot.start();
  await bot.start();
  await idle();
  await whileRunning(bot);
  rmSync(directory, { recursive: true });
  // A busy machine also warns of a blocked event loop.
  return { logged: logged.filter(([, message]) => message.startsWith('window')), opened };
}

it('a program is warned once of each small window', async () => {
  const { logged, opened } = await started([
    { id: 'tiny', context_window: 2000, compaction: tight },
    { id: 'full', context_window: 100 },
    { id: 'roomy', context_window: 8000 },
    { id: 'auto', compaction: tight },
  ]);
  expect(opened).toBe(0);
  expect(logged).toEqual([
    [
      'warn',
      'window.small',
      {
        cause: expect.stringContaining('agent tiny: in the window of 2,000 tokens'),
        remedy: expect.stringContaining('Raise background_threshold to'),
      },
    ],
    [
      'error',
      'window.small',
      {
        cause: expect.stringContaining('agent full: the window of 100 tokens is too small'),
        remedy: expect.any(String),
      },
    ],
  ]);
});

it('a change of the settings is checked like the start', async () => {
  const roomy = defaultAgent({ id: 'a', context_window: 8000 });
  const small = defaultAgent({ id: 'a', context_window: 2000, compaction: tight });
  let agents = [roomy];
  const { logged } = await started(
    createAgentDirectory(() => ({ agents })),
    async (bot) => {
      for (const next of [[small], [small], [roomy], [small]]) {
        agents = next;
        bot.events.emit({ kind: 'config.changed', conversation: null, file: 'config.toml', waitsForRestart: '' });
        await idle();
      }
    },
  );
  const cause = expect.stringContaining('agent a: in the window of 2,000 tokens');
  const warning = ['warn', 'window.small', { cause, remedy: expect.any(String) }];
  expect(logged).toEqual([warning, warning]);
});
