import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/port.ts';
import { findRedis, startRedis } from '../test/support/redis-server.ts';

const MOCK = fileURLToPath(new URL('./children/redis.process.ts', import.meta.url));

export interface BenchRedis extends AsyncDisposable {
  readonly url: string;
  /** A description for the notes. */
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A real Redis if one is found, otherwise js-redis-server in a separate process. */
export async function openRedis(): Promise<BenchRedis> {
  const program = await findRedis();
  if (program.kind === 'missing') return await openMock(program.reason);
  return { ...(await startRedis(program)), name: 'Redis' };
}

async function openMock(reason: string): Promise<BenchRedis> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const start = async () => {
    child = spawn(process.execPath, [MOCK, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout !== null) await once(child.stdout, 'data');
  };
  const kill = async () => {
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    child = null;
    await ended;
  };
  await start();
  const name = `js-redis-server (${reason})`;
  return { url: `redis://127.0.0.1:${port}`, name, start, kill, [Symbol.asyncDispose]: kill };
}
