import { once } from 'node:events';
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
