import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A relay to a server. Once it is frozen, it still accepts connections, but nothing comes through. */
export interface Freezer extends AsyncDisposable {
  /** The server's URL, through the relay. */
  readonly url: string;
  freeze(): void;
  /** New connections come through again; the old ones stay silent. */
  thaw(): void;
}

export async function openFreezer(server: string): Promise<Freezer> {
  const to = new URL(server);
  const sockets: Socket[] = [];
  let isFrozen = false;
  const relay = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    if (!isFrozen) client.pipe(upstream).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: Object.assign(new URL(server), { host: `127.0.0.1:${port}` }).href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    thaw() {
      isFrozen = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const closed = once(relay, 'close');
      relay.close();
      await closed;
    },
  };
}
