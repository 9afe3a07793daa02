import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

// Shows: W14
it('counts what this machine cannot run and names each reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strata-skipped-'));
  const tests = [
    "describe('the store on Postgres', () => it.skip('skipped: no initdb on the path'));",
    "describe('the queue on Postgres', () => it.skip('skipped: no initdb on the path'));",
    "describe('the queue', () => { it('runs', () => {}); it.skip('does not', () => {}); });",
  ];
  await mkdir(join(folder, 'test'));
  await writeFile(join(folder, 'test/some.test.ts'), tests.join('\n'));
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const options = ['run', '--root', folder, '--config', join(root, 'vitest.config.ts'), '--globals', '--no-color'];
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV)/u.test(name));
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, ...options], {
    env: Object.fromEntries(own),
  });
  await rm(folder, { recursive: true });
  expect(stdout).toContain('1 passed | 3 skipped');
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('Skipped: ')),
  ).toEqual(['Skipped: no initdb on the path (the store on Postgres; the queue on Postgres)']);
}, 120_000);
