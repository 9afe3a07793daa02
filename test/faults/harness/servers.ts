import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/port.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, type RedisServer, startRedis } from '../../support/redis-server.ts';
import type { Deployment } from './deployments.ts';

/** What a deployment needs beside the bot's own processes. */
export interface Servers extends AsyncDisposable {
  readonly redis: RedisServer | null;
  readonly postgres: PostgresServer | null;
  /** What was started, in words. */
  readonly names: readonly string[];
}

/** Why a deployment cannot be run here; null when it can. */
export async function whyNot({ store }: Deployment): Promise<string | null> {
  if (store !== 'postgres') return null;
  const found = await findPostgres();
  return found.kind === 'missing' ? found.reason : null;
}

/** `isJavaScript` takes js-redis-server even where a Redis is found. */
export async function startServers({ store, queue }: Deployment, { isJavaScript = false } = {}): Promise<Servers> {
  const names: string[] = [];
  let redis: RedisServer | null = null;
  if (queue === 'redis') {
    const found = isJavaScript ? null : await findRedis();
    redis = found?.kind === 'found' ? await startRedis(found) : await startJavaScriptRedis();
    names.push(found?.kind === 'found' ? 'Redis' : 'js-redis-server');
  }
  const programs = store === 'postgres' ? await findPostgres() : null;
  const postgres = programs?.kind === 'found' ? await startPostgres(programs) : null;
  if (postgres !== null) names.push('Postgres');
  return {
    redis,
    postgres,
    names,
    async [Symbol.asyncDispose]() {
      await redis?.[Symbol.asyncDispose]();
      await postgres?.[Symbol.asyncDispose]();
    },
  };
}

const PROGRAM = fileURLToPath(new URL('./redis-js.process.ts', import.meta.url));

async function startJavaScriptRedis(): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const start = async () => {
    child = spawn(process.execPath, [PROGRAM, String(port)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    await once(child, 'message');
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
    // Nothing of it is on the disk.
    wipe: async () => undefined,
    [Symbol.asyncDispose]: kill,
  };
}
