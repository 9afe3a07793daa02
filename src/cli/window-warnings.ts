import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GlobalOptions } from '../app/app.ts';
import { type Cli, withApp } from './cli.ts';
import { ONLY_CHECKED } from './doctor-data.ts';

/**
 * What the windows of the configuration have no room for. Needs no key, server or data: a window that only the model
 * knows is left to `strata doctor`.
 */
export async function windowWarnings(cli: Cli, globals: GlobalOptions): Promise<readonly string[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'strata-check-')).catch(() => null);
  if (scratch === null) return [`The windows were not checked, because nothing can be written at ${tmpdir()}.`];
  try {
    return await withApp(cli, { ...globals, ...ONLY_CHECKED, data: null, scratch, create: true }, async (app) => {
      const problems = await app.services.windowProblems({ isOffline: true });
      return problems.map(({ message, fixHint }) => `${message}. ${fixHint}`);
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
