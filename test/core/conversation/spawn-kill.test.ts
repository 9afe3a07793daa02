import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RELATIVE_IMPORTS } from '../../support/relative-imports.ts';
import { SIZED, spread } from '../../support/size.ts';

const script = fileURLToPath(new URL('spawn-kill.process.ts', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'strata-spawn-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Null if the process was killed. */
function run(killAt = ''): Promise<unknown> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...RELATIVE_IMPORTS, script, directory, killAt], (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout));
      else if (error.signal === 'SIGKILL') resolve(null);
      else reject(error);
    });
  });
}

describe('a child of a process that is killed with -9', () => {
  const again = ['prepared', 'asked', 'completed'];
  const steps = [
    ['asked', ['prepared', 'asked', 'swept', ...again]],
    ['prepared', ['prepared', 'swept', ...again]],
    ['completed', ['prepared', 'asked', 'completed', 'swept', ...again]],
  ] as const;
  // Shows: O40, O42
  it.each(spread(steps, 1))(
    'when it is %s, ends at the next start',
    { ...SIZED, timeout: 60_000 },
    async (killAt, expected) => {
      expect(await run(killAt)).toBeNull();
      const roles = ['user', 'assistant', 'tool', 'assistant'];
      expect(await run()).toEqual({ conversations: 1, roles, children: 0 });
      const notes = await readFile(join(directory, 'notes.txt'), 'utf8');
      expect(notes.trim().split('\n')).toEqual(expected);
    },
  );
});
