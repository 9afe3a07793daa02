import { tmpdir } from 'node:os';
import type { GlobalOptions } from '../../app/app.ts';
import type { Cli } from '../cli.ts';
import { withScratchApp } from '../scratch.ts';

/**
 * What the windows of the configuration have no room for. Needs no key, server or data: a window that only the model
 * knows is left to `strata doctor`.
 */
export async function windowWarnings(cli: Cli, globals: GlobalOptions): Promise<readonly string[]> {
  const problems = await withScratchApp(cli, globals, ({ services }) => services.windowProblems({ isOffline: true }));
  if (problems === null) return [`The windows were not checked, because nothing can be written at ${tmpdir()}.`];
  return problems.map(({ message, fixHint }) => `${message}. ${fixHint}`);
}
