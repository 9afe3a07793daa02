#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import type { CliContext, ExitCode } from './cli/context.ts';

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
  const context = createContext(stopSignal());
  await runCli(process.argv.slice(2), {
    ...context,
    open: async (options) => {
      const [{ openApp }, { adapters }] = await Promise.all([
        import('./app/open.ts'),
        import('../adapters/registry.ts'),
      ]);
      return await openApp({ adapters, streams: streams(), environment: context.environment }, options);
    },
    openStorage: async (options) => {
      const [{ openStore }, { adapters }] = await Promise.all([
        import('./app/open.ts'),
        import('../adapters/registry.ts'),
      ]);
      return await openStore({ adapters, environment: context.environment }, options);
    },
    adapters: async () => (await import('../adapters/registry.ts')).adapters,
    exit: (code: ExitCode) => {
      process.exitCode = code;
    },
  });
}

/** `.env` in the working folder; what the real environment says wins. */
function readEnvironmentFile(): void {
  try {
    process.loadEnvFile();
  } catch {
    // There is none, which is the usual case.
  }
}

function createContext(signal: AbortSignal): CliContext {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    signal,
  };
}

function streams() {
  const isTTY = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const color = isTTY && process.stdout.hasColors() && !process.env['NO_COLOR'];
  return { input: process.stdin, output: process.stdout, errors: process.stderr, isTTY, color };
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
      controller.abort(new Error('The process was told to stop.'));
    });
  }
  // A reader that goes away, like `head`, is an ordinary end.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return controller.signal;
}
