import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder that all test files of a run share. */
    readonly runFolder: string;
  }
}

const MIN_FREE_BYTES = 4 * 1024 ** 3;
/** A Postgres server that a test starts runs as another user. */
const OTHERS_MAY_ENTER = 0o711;

/** Creates the shared folder of a run, which contains all temporary files of the tests. Returns its removal. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(process.env['TMPDIR'] ?? memoryFolder() ?? tmpdir(), 'strata-run-'));
  chmodSync(folder, OTHERS_MAY_ENTER);
  // Processes that run the tests inherit it.
  process.env['TMPDIR'] = folder;
  project.provide('runFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Where Linux keeps files in memory, if it has room and starts programs from there: most tests wait for the disk otherwise. */
function memoryFolder(): string | null {
  const folder = '/dev/shm';
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const isMounted = /^\S+ \/dev\/shm tmpfs rw\b(?!\S*\bnoexec\b)/mu.test(readFileSync('/proc/mounts', 'utf8'));
    return isMounted && bavail * bsize >= MIN_FREE_BYTES ? folder : null;
  } catch {
    return null;
  }
}
