import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App, GlobalOptions } from '../app/app.ts';
import { type Cli, withApp } from './cli.ts';

/**
 * Opens a bot with the settings of the configuration on an empty store and a queue in this process, whatever store and
 * queue are configured, and deletes the store afterwards. Null if nothing can be written at the temporary folder.
 */
export async function withScratchApp<Result>(
  cli: Cli,
  globals: GlobalOptions,
  work: (app: App) => Promise<Result>,
): Promise<Result | null> {
  const scratch = await mkdtemp(join(tmpdir(), 'strata-scratch-')).catch(() => null);
  if (scratch === null) return null;
  try {
    return await withApp(cli, { ...globals, data: null, scratch, create: true, listenOnly: true }, work);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
