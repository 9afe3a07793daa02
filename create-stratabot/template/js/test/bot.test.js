import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const strata = fileURLToPath(new URL('bin/strata.js', import.meta.resolve('stratabot/package.json')));

test('the bot rolls a die', () => {
  const data = mkdtempSync(join(tmpdir(), 'bot-'));
  // The built-in model needs neither a key nor a network.
  const args = [strata, 'chat', '--model', 'offline:demo', '--data', data];
  const env = { ...process.env{{TEST_TOKENS}} };
  const options = { cwd: join(import.meta.dirname, '..'), env, input: 'Roll a die with 6 sides.\n', encoding: 'utf8' };
  const { stdout, stderr } = spawnSync(process.execPath, args, options);
  rmSync(data, { recursive: true });
  assert.match(stdout, /The die shows [1-6]/, stderr);
});
