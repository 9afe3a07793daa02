import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adapters } from '../../../adapters/registry.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { botSettings } from '../../../src/app/bot-settings.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { watchConfig } from '../../../src/config/watch/watch.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

it('a changed retention applies without a restart', async () => {
  const directory = await createStoreFolder('retention');
  const file = join(directory, 'config.toml');
  const write = (days: number) => writeFileSync(file, `[privacy]\nretention_days = ${days}\n`);
  write(30);
  const load = { file, explicit: true, environment: {}, flags: {} };
  const initial = loadConfig(load);
  const live = watchConfig({ initial, load, check: () => {}, onChange: () => {}, onReject: () => {} });
  const streams = { input: process.stdin, output: process.stdout, errors: process.stderr, isTTY: false, color: false };
  const storage = await createSqliteStorage({ directory });
  const { retentionDays } = await botSettings({
    host: { adapters, streams, environment: {} },
    options: {
      ...{ config: file, data: null, model: null, logLevel: null, terminal: null },
      ...{ platforms: [], role: 'all', listenOnly: false, create: true },
    },
    load,
    config: initial.config,
    live,
    plugins: [],
    storage,
  });
  expect(retentionDays()).toBe(30);
  write(7);
  live.reload();
  expect(retentionDays()).toBe(7);
  live.close();
  await storage.store.close();
});
