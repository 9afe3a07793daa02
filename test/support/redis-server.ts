import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { createRedisMock } from 'js-redis-server';
import { endOf, freePort, listening } from './port.ts';

const run = promisify(execFile);

/** A real Redis for the tests: on the path, else Debian's packages, unpacked without rights into the user's cache. */
export type RedisProgram =
  | { readonly kind: 'found'; readonly file: string; readonly libraries: string | null }
  | { readonly kind: 'missing'; readonly reason: string };

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Kills it abruptly, as when the machine runs out of memory. Acknowledged data is in its file. */
  kill(): Promise<void>;
  /** On the same port, with its remaining data. */
  start(): Promise<void>;
  /** Deletes the data of a server that does not run. */
  wipe(): Promise<void>;
}

const NAMES = ['redis-server', 'valkey-server'];

export async function findRedis(): Promise<RedisProgram> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const file of folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))) {
    if (await isProgram(file)) return { kind: 'found', file, libraries: null };
  }
  try {
    return await unpacked();
  } catch (error) {
    const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { kind: 'missing', reason: `no redis-server on the path, and Debian's could not be unpacked: ${detail}` };
  }
}

async function isProgram(file: string): Promise<boolean> {
  return await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

const LIMIT_MS = 60_000;
const PACKAGES = ['redis-server', 'redis-tools', 'liblzf1', 'libjemalloc2', 'libatomic1'];

/** Keeps to its own folder: the machine's list of packages is neither read nor changed. */
async function unpacked(): Promise<RedisProgram> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'strata-test');
  const root = join(cache, 'redis');
  if (!existsSync(root)) {
    if (!(await isProgram('/usr/bin/apt-get'))) throw new Error('there is no apt-get');
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, 'unpacking-'));
    await unpack(folder);
    // Several test files may do this at the same time: the first one wins, and the others use its result.
    await rename(join(folder, 'root'), root).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
  // The program is part of redis-tools; under this name it acts as a server.
  const file = join(root, 'usr/bin/redis-server');
  const [libraries] = await readdir(join(root, 'usr/lib')).then((names) =>
    names.filter((name) => name.endsWith('-linux-gnu')),
  );
  if (libraries === undefined || !(await isProgram(file))) throw new Error(`${root} holds no server`);
  return { kind: 'found', file, libraries: join(root, 'usr/lib', libraries) };
}

async function unpack(folder: string): Promise<void> {
  for (const name of ['apt/lists/partial', 'apt/cache/archives/partial', 'debs', 'root']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  const options = [
    `Dir::State=${folder}/apt`,
    `Dir::State::lists=${folder}/apt/lists`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${folder}/apt/cache`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
    'Acquire::Retries=0',
    'Acquire::http::Timeout=10',
    'Acquire::https::Timeout=10',
  ].flatMap((option) => ['-o', option]);
  const limits = { cwd: join(folder, 'debs'), timeout: LIMIT_MS };
  await run('apt-get', [...options, '-qq', 'update'], limits);
  await run('apt-get', [...options, '-qq', 'download', ...PACKAGES], limits);
  for (const name of await readdir(join(folder, 'debs'))) {
    await run('dpkg', ['-x', join(folder, 'debs', name), join(folder, 'root')], limits);
  }
}

/** An imitation of Redis in this process. */
export async function startRedisMock(): Promise<{ readonly url: string } & AsyncDisposable> {
  const mock = await createRedisMock();
  return { url: mock.url, [Symbol.asyncDispose]: () => mock.close() };
}

/** Writes each change to its file before it answers, so that a kill loses nothing that was acknowledged. */
export async function startRedis(
  program: Extract<RedisProgram, { kind: 'found' }>,
  more: readonly string[] = [],
): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'strata-redis-'));
  const port = await freePort();
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--appendonly', 'yes'];
  const environment = program.libraries === null ? {} : { LD_LIBRARY_PATH: program.libraries };
  let child: ChildProcess | null = null;
  const start = async () => {
    child = spawn(program.file, [...settings, '--save', '', ...more], {
      env: { ...process.env, ...environment },
      stdio: 'ignore',
    });
    await listening(port, { signal: endOf(child, 'Redis') });
  };
  const kill = async () => {
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    child = null;
    await ended;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    kill,
    wipe: async () => {
      for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
