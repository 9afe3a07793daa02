#!/usr/bin/env node
import { statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import type { ExitCode } from './cli/cli.ts';

const OLDEST_NODE = 24;

await main();

/** The composition root: a Node that can run it, the environment, the command line; adapters are loaded when used. */
async function main(): Promise<void> {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    const { StrataError } = await import('./domain/errors.ts');
    process.stderr.write(`strata: ${new StrataError('NODE_TOO_OLD', { found: process.versions.node }).message}\n`);
    process.exitCode = 1;
    return;
  }
  enableCompileCache();
  readEnvironmentFile();
  const { runCli } = await import('./cli/program.ts');
  await runCli(process.argv.slice(2), {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    signal: stopSignal(),
    open: async (options) => (await import('./program.ts')).openApp(options),
    openStorage: async (options) => (await import('./program.ts')).openStore(options),
    adapters: async () => (await import('../adapters/registry.ts')).adapters,
    exit: (code: ExitCode) => {
      process.exitCode = code;
    },
  });
}

/** `.env` in the working folder; variables of the real environment take precedence. */
function readEnvironmentFile(): void {
  try {
    // Usually there is none.
    const stats = statSync('.env', { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (!stats.isFile()) throw new Error('it is not a regular file');
    process.loadEnvFile();
  } catch {
    process.stderr.write(
      'strata: .env cannot be read, so its variables are not set. Make it a file that this user may read.\n',
    );
  }
}

/** The first SIGINT or SIGTERM asks to end, the second ends at once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const [name, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + number);
      controller.abort(new Error('The process received a stop signal.'));
    });
  }
  // A reader that closes the pipe, like `head`, is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  // Nobody reads the log any more, for example after a restart of what collects it. The bot goes on.
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return controller.signal;
}
