import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/port.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { findRedis, type RedisServer, startRedis } from '../../support/redis-server.ts';
import type { Deployment } from './deployments.ts';

/** What a deployment needs besides the bot's own processes. */
export interface Servers extends AsyncDisposable {
  readonly redis: RedisServer | null;
  readonly postgres: PostgresServer | null;
  /** Describes what was started. */
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
  await using things = new AsyncDisposableStack();
  const names: string[] = [];
  let redis: RedisServer | null = null;
  if (queue === 'redis') {
    const found = isJavaScript ? null : await findRedis();
    const isReal = found?.kind === 'found';
    redis = things.use(isReal ? await startRedis(found) : await startJavaScriptRedis());
    names.push(isReal ? 'Redis' : JS_REDIS);
  }
  let postgres: PostgresServer | null = null;
  if (store === 'postgres') {
    const found = await findPostgres();
    if (found.kind === 'missing') throw new Error(found.reason);
    postgres = things.use(await startPostgres(found));
    names.push('Postgres');
  }
  const owned = things.move();
  return { redis, postgres, names, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export const JS_REDIS = 'js-redis-server';
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
    // It keeps nothing on disk.
    wipe: async () => undefined,
    [Symbol.asyncDispose]: kill,
  };
}
