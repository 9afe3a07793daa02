import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT } from '../support/environment.ts';

/** The entry as a user runs it. */
export const MAIN = fileURLToPath(new URL('../../bin/strata.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A fresh working folder: no configuration, no data, no `.env`. */
export interface Folder extends Disposable {
  readonly path: string;
  file(name: string): string;
  /** Runs `strata ...` here, in this process, with the whole input. One run at a time. */
  run(args: readonly string[], input?: string | Buffer): Promise<Ended>;
  /** The same, asked for its input line by line, as in a terminal. */
  runAsking(args: readonly string[], answers: AsyncIterable<string>): Promise<Ended>;
  /** The same in a process of its own: for pipes, `.env`, and plugins that use the process itself. */
  runProcess(args: readonly string[], input?: string | Buffer): Promise<Ended>;
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
}

/** `columns`: the width of the terminal that `run` writes to; without it, the output is a pipe. */
export function openFolder(
  environment: Readonly<Record<string, string>> = {},
  { columns }: { readonly columns?: number } = {},
): Folder {
  const path = mkdtempSync(join(tmpdir(), 'strata-cli-'));
  const start = (args: readonly string[]) =>
    spawn(process.execPath, [MAIN, ...args], { cwd: path, env: { ...ENVIRONMENT, ...environment } });
  return {
    path,
    file: (name) => join(path, name),
    start,
    run: (args, input = '') =>
      runHere({
        path,
        args,
        stdin: new PassThrough().end(input),
        columns,
        environment: { ...ENVIRONMENT, ...environment },
      }),
    runAsking: (args, answers) =>
      runHere({
        path,
        args,
        stdin: Object.assign(Readable.from(answers), { isTTY: true }),
        columns,
        environment: { ...ENVIRONMENT, ...environment },
      }),
    runProcess: (args, input = '') => ended(start(args), input),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

// Loaded by Node itself, because a plugin imports `stratabot` and other files as it does in a process.
const load = createRequire(import.meta.url);
const { runCli }: typeof import('../../src/cli/program.ts') = load('../../src/cli/program.ts');
const { openApp, openStore }: typeof import('../../src/app/open.ts') = load('../../src/app/open.ts');
const { adapters }: typeof import('../../adapters/registry.ts') = load('../../adapters/registry.ts');

/** What `src/main.ts` does, with streams and an environment of the test. */
async function runHere(call: {
  readonly path: string;
  readonly args: readonly string[];
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly columns: number | undefined;
  readonly environment: Readonly<Record<string, string>>;
}): Promise<Ended> {
  const { environment, stdin } = call;
  const [stdout, stderr] = [collect(), collect()];
  if (call.columns !== undefined) Object.assign(stdout.stream, { columns: call.columns });
  const streams = { input: stdin, output: stdout.stream, errors: stderr.stream, isTTY: false, color: false };
  const parts = { adapters, streams, environment };
  let code = 0;
  const home = process.cwd();
  process.chdir(call.path);
  try {
    await runCli(call.args, {
      stdin,
      stdout: stdout.stream,
      stderr: stderr.stream,
      environment,
      signal: new AbortController().signal,
      onUncaught: () => undefined,
      open: (options) => openApp(parts, options),
      openStorage: (options) => openStore(parts, options),
      adapters: async () => adapters,
      exit: (given) => {
        code = given;
      },
    });
  } finally {
    process.chdir(home);
  }
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

export function ended(child: ChildProcessWithoutNullStreams, input?: string | Buffer): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
    // A process that refuses to start does not read its input.
    child.stdin.on('error', () => undefined);
    if (input !== undefined) child.stdin.end(input);
  });
}

/** Every line parsed: throws when anything but JSON was printed. */
export function jsonLines<Row>(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Row => JSON.parse(line));
}
