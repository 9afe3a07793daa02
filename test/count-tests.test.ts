import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const tool = join(import.meta.dirname, '../tools/count-tests.ts');
const run = promisify(execFile);

// Shows: W14
it('counts as skipped only what no run has run', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'strata-count-'));
  const quick = join(folder.path, 'quick.json');
  const long = join(folder.path, 'long.json');
  await writeFile(quick, reportOf({ short: 'passed', sized: 'passed', server: 'skipped' }));
  await writeFile(long, reportOf({ short: 'skipped', sized: 'failed', server: 'skipped' }));
  expect(await count(quick, long)).toBe('2 passed, 1 failed, 1 skipped\n');
});

it('counts unloaded files and missing reports as failed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'strata-count-'));
  const unloaded = join(folder.path, 'unloaded.json');
  await writeFile(unloaded, reportOf({}, 'failed'));
  expect(await count(unloaded, join(folder.path, 'missing.json'))).toBe('0 passed, 2 failed, 0 skipped\n');
});

async function count(...reports: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [tool, ...reports]);
  return stdout;
}

function reportOf(tests: Readonly<Record<string, string>>, status = 'passed'): string {
  const assertionResults = Object.entries(tests).map(([fullName, of]) => ({ fullName, status: of }));
  return JSON.stringify({ testResults: [{ name: 'some.test.ts', status, assertionResults }] });
}
