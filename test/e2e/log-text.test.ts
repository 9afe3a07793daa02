import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openFolder } from './strata.ts';

vi.setConfig({ testTimeout: 60_000 });

test.each([
  [true, 2],
  [false, 0],
])('with text = %s the log has %i messages', async (text, count) => {
  using folder = openFolder();
  writeFileSync(folder.file('config.toml'), `[log]\ntext = ${text}\n`);
  expect((await folder.run(['chat'], 'I like plums.\n')).code).toBe(0);
  const log = readFileSync(folder.file('data/strata.log'), 'utf8');
  expect(log.includes('I like plums.')).toBe(text);
  expect(log.match(/"message":"message\.text"/g) ?? []).toHaveLength(count);
});
