import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder that all test files of a run share. */
    readonly runFolder: string;
  }
}

/** Creates the shared folder of a run. Returns its removal. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'strata-run-'));
  project.provide('runFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
