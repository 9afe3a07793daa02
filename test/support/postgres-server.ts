import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, glob, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { endOf, freePort, listening } from './port.ts';

const run = promisify(execFile);

/** A real Postgres for the tests: the folder of its programs on the path, or where Debian keeps them. */
export type PostgresPrograms =
  | { readonly kind: 'found'; readonly folder: string }
  | { readonly kind: 'missing'; readonly reason: string };

export interface PostgresServer extends AsyncDisposable {
  /** Of the database "postgres"; a client may create others. */
  readonly url: string;
  readonly port: number;
  /** Ends it at once, without closing connections. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Creates an empty database and returns its URL. */
  database(name: string): Promise<string>;
}

/** Postgres refuses to run as root, so it runs as the user nobody. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

export async function findPostgres(): Promise<PostgresPrograms> {
  const installed: string[] = [];
  for await (const file of glob('/usr/lib/postgresql/*/bin/initdb')) installed.push(await realpath(file));
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for await (const file of glob(join(folder, 'initdb'))) installed.push(await realpath(file));
  }
  const newest = installed.sort().at(-1);
  if (newest === undefined) return { kind: 'missing', reason: 'no initdb on the path or in /usr/lib/postgresql' };
  return { kind: 'found', folder: join(newest, '..') };
}

function asUser(file: string, args: readonly string[]): { readonly file: string; readonly args: readonly string[] } {
  if (!isRoot) return { file, args };
  return { file: 'setpriv', args: [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', file, ...args] };
}

export interface ServerOptions {
  /**
   * Commits wait for the disk. Default false: the machine does not lose power during a test, and a killed process
   * loses nothing.
   */
  readonly syncs?: boolean;
}

export async function startPostgres(
  { folder }: Extract<PostgresPrograms, { kind: 'found' }>,
  { syncs = false }: ServerOptions = {},
): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), 'strata-postgres-'));
  if (isRoot) await chown(directory, NOBODY, NOBODY);
  const data = join(directory, 'data');
  await (process.env['VITEST'] === undefined ? initialise(folder, data) : copyTo(data, folder));
  const port = await freePort();
  const urlOf = (name: string) => `postgres://strata@127.0.0.1:${port}/${name}`;
  const flags = [
    `fsync=${syncs ? 'on' : 'off'}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
  ].flatMap((flag) => ['-c', flag]);
  const serve = asUser(join(folder, 'postgres'), ['-D', data, '-p', `${port}`, ...flags]);
  let child: ChildProcess | null = null;
  const start = async () => {
    child = spawn(serve.file, serve.args, { cwd: directory, stdio: 'ignore' });
    await listening(port, { signal: endOf(child, 'Postgres') });
    await accepting(urlOf('postgres'));
  };
  const kill = async () => {
    if (child === null) return;
    const ended = once(child, 'exit');
    // "Immediate" shutdown: the children are ended too, and the log is replayed at the next start.
    child.kill('SIGQUIT');
    child = null;
    await ended;
  };
  await start();
  return {
    url: urlOf('postgres'),
    port,
    start,
    kill,
    async database(name) {
      await ask(urlOf('postgres'), `create database "${name}"`);
      return urlOf(name);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function initialise(folder: string, data: string): Promise<void> {
  const flags = ['-U', 'strata', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  const { file, args } = asUser(join(folder, 'initdb'), ['-D', data, ...flags]);
  await run(file, args, { cwd: join(data, '..') });
}

/** Copies what `initdb` made once for all tests of a run: that takes a tenth of the time. */
async function copyTo(data: string, folder: string): Promise<void> {
  const directory = join(tmpdir(), 'postgres-initialised');
  const [made, done] = [join(directory, 'data'), join(directory, 'done')];
  const isFirst = (await mkdir(directory, { recursive: true })) !== undefined;
  if (isFirst) {
    if (isRoot) await chown(directory, NOBODY, NOBODY);
    await initialise(folder, made).finally(() => writeFile(done, ''));
  }
  while (!existsSync(done)) await sleep(100);
  const { file, args } = asUser('cp', ['-r', made, data]);
  await run(file, args, { cwd: directory });
}

/** It listens a moment before it accepts connections. */
async function accepting(url: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask(url, 'select 1');
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
  }
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}
