import { readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLogFile } from '../../../src/app/log-file.ts';

const LINE = `${'x'.repeat(49_999)}\n`;
const MAX_BYTES = 5_200_000;

it('a log that is written for months stays small', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'strata-log-'));
  try {
    const log = openLogFile(directory);
    for (let count = 0; count < 400; count += 1) log.write(LINE);
    const files = readdirSync(directory).toSorted();
    expect(files).toEqual(['strata.log', 'strata.log.1']);
    const stats = files.map((name) => statSync(join(directory, name)));
    for (const { size } of stats) expect(size).toBeLessThan(MAX_BYTES);
    expect(stats.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
