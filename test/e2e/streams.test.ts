import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openFolder } from './strata.ts';

test('the bot goes on when nobody reads its log', async () => {
  using folder = openFolder();
  const bot = folder.start(['start', '--log-level', 'debug']);
  bot.stderr.destroy();
  bot.stdin.write('My name is Ada.\n');
  const [first]: unknown[] = await once(bot.stdout, 'data');
  expect(String(first)).toMatch(/\S/);
  bot.stdin.end('/status\n');
  const [code]: unknown[] = await once(bot, 'exit');
  expect(code).toBe(0);
});

test('an environment file that cannot be read is named', async () => {
  using folder = openFolder();
  const start = () => folder.runProcess(['config', 'show']);
  expect((await start()).stderr).toBe('');
  mkdirSync(folder.file('.env'));
  const { code, stderr } = await start();
  expect(code).toBe(0);
  expect(stderr).toBe(
    'strata: .env cannot be read, so its variables are not set. Make it a file that this user may read.\n',
  );
});
