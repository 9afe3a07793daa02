import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A free port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('The port has no number.');
  return address.port;
}

/** Resolves when somebody listens there. */
export async function listening(port: number, limitMs = 60_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await answers(port))) {
    if (performance.now() > deadline) throw new Error(`Nobody listens on port ${port} after ${limitMs} ms.`);
    await sleep(20);
  }
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
