import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The entry as a user runs it. */
export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A fresh working folder: no configuration, no data, no `.env`. */
export interface Folder extends Disposable {
  readonly path: string;
  file(name: string): string;
  /** Runs `strata ...` here and feeds it its whole input. */
  run(args: readonly string[], input?: string | Buffer): Promise<Ended>;
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
}

/** No key of the machine's owner and no server of theirs: the built-in model answers. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', USER: 'Ada', OLLAMA_HOST: 'http://127.0.0.1:9' };

export function openFolder(environment: Readonly<Record<string, string>> = {}): Folder {
  const path = mkdtempSync(join(tmpdir(), 'strata-cli-'));
  const start = (args: readonly string[]) =>
    spawn(process.execPath, [MAIN, ...args], { cwd: path, env: { ...ENVIRONMENT, ...environment } });
  return {
    path,
    file: (name) => join(path, name),
    start,
    run: (args, input = '') => ended(start(args), input),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
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
