import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

// Below the ports that systems give to connections and to `listen(0)` (from 32,768 on Linux, 49,152 elsewhere), so
// that nothing takes one before its server starts or while it restarts. Redis adds 10,000 for the bus of a cluster.
const FIRST_PORT = 12_000;
const PORT_COUNT = 10_000;
const ATTEMPTS = 100;

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`${ATTEMPTS} ports from ${FIRST_PORT} on are in use.`);
}

/** Resolves when somebody listens there. Aborting `signal` ends the wait with its reason. */
export async function listening(port: number, options: { limitMs?: number; signal?: AbortSignal } = {}): Promise<void> {
  const { limitMs = 120_000, signal } = options;
  const deadline = performance.now() + limitMs;
  while (!(await answers(port))) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new Error(`Nobody listens on port ${port} after ${limitMs} ms.`);
    await sleep(20);
  }
}

/** Aborts when the server ends, so that nobody waits for one that could not start. */
export function endOf(server: ChildProcess, name: string): AbortSignal {
  const ended = new AbortController();
  server.once('exit', (code, signal) => ended.abort(new Error(`${name} ended with ${code ?? signal}.`)));
  server.once('error', (error) => ended.abort(error));
  return ended.signal;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
