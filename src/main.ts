#!/usr/bin/env node
import { lstatSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { parseEnv } from 'node:util';
import type { Cli, ExitCode } from './cli/cli.ts';
import { readText } from './util/files/text-file.ts';

const OLDEST_NODE = 24;
/** For what a library finishes by itself, such as closing its connections. */
const LEAVE_MS = 1_000;

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
  await prepareNetwork(readEnvironmentFile());
  const { runCli } = await import('./cli/program.ts');
  await runCli(process.argv.slice(2), {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    signal: stopSignal(),
    onUncaught,
    open: async (options) => (await import('./program.ts')).openApp(options),
    openStorage: async (options) => (await import('./program.ts')).openStore(options),
    adapters: async () => (await import('../adapters/registry.ts')).adapters,
    exit: (code: ExitCode) => {
      process.exitCode = code;
    },
  });
  leave();
}

/**
 * Everything is closed and saved by now. What libraries still wait for must not keep the process: the end of a rate
 * limit can be minutes away, and no request that waits for it is of use any more.
 */
function leave(): void {
  const timer = setInterval(() => {
    // A slow reader of the output gets all of it.
    if (process.stdout.writableLength === 0) process.exit();
  }, LEAVE_MS);
  timer.unref();
}

/**
 * A rejection that nothing awaits has interrupted no code of Strata, so the process continues. An exception may have
 * interrupted any code, so Node.js ends the process; the monitor only logs it.
 */
function onUncaught(listener: Parameters<Cli['onUncaught']>[0]): void {
  process.on('unhandledRejection', (error) => listener({ kind: 'rejection', error }));
  process.on('uncaughtExceptionMonitor', (error) => listener({ kind: 'exception', error }));
}

/**
 * `.env` in the working folder; variables of the real environment take precedence. Returns the names of the variables
 * that it has set.
 */
function readEnvironmentFile(): ReadonlySet<string> {
  const names = new Set<string>();
  try {
    // Usually there is none. A link to a file that is missing counts as one.
    if (lstatSync('.env', { throwIfNoEntry: false }) === undefined) return names;
    for (const [name, value] of Object.entries(parseEnv(readText('.env')))) {
      if (process.env[name] !== undefined) continue;
      process.env[name] = value;
      names.add(name);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `strata: .env cannot be read, so its variables are not set: ${reason}. Save it as a UTF-8 text file that this user may read.\n`,
    );
  }
  return names;
}

/** Node.js uses a proxy only if it is asked to, and reads the certificates of the environment before `.env` is read. */
async function prepareNetwork(namesInFile: ReadonlySet<string>): Promise<void> {
  const problems: (string | null)[] = [];
  if (['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'].some((name) => namesInFile.has(name))) {
    const { trustCertificates } = await import('./util/network/certificates.ts');
    problems.push(trustCertificates(process.env));
  }
  if (Object.keys(process.env).some((name) => /^https?_proxy$/i.test(name))) {
    const { proxiesIn, useProxies } = await import('./util/network/proxies.ts');
    const named = proxiesIn(process.env);
    problems.push(...named.problems, named.proxies === null ? null : useProxies(named.proxies));
  }
  for (const problem of problems) if (problem !== null) process.stderr.write(`strata: ${problem}.\n`);
}

/** The first signal asks to end, the second ends at once. A terminal that is closed sends SIGHUP. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const [name, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + number);
      controller.abort(new Error('The process received a stop signal.'));
    });
  }
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes the pipe, like `head`, is not an error.
    if (error.code === 'EPIPE') process.exit(0);
    // A closed terminal takes no output, and the bot stops as after any signal.
    if (controller.signal.aborted) return;
    process.stderr.write(`strata: The output cannot be written: ${error.message}.\n`);
    process.exit(1);
  });
  // Nobody reads the log any more, or its disk is full. The bot goes on, and so does the log once there is room.
  process.stderr.on('error', () => undefined);
  return controller.signal;
}
