import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';

/** A certificate for `*.strata.test` that no authority has signed, with its key. */
export const CERTIFICATE_FILE = fileURLToPath(new URL('../fixtures/strata-test.pem', import.meta.url));

/**
 * A proxy for tunnels, as companies have one. It opens the TLS of port 443, as their filters do, and knows only the given
 * hosts, each with the URL of the plain server behind it.
 */
export async function startProxy(hosts: Readonly<Record<string, string>> = {}) {
  const pem = readFileSync(CERTIFICATE_FILE);
  const secureContext = createSecureContext({ key: pem, cert: pem });
  const tunnels: string[] = [];
  const authorizations = new Set<string | undefined>();
  const sockets = new Set<Duplex>();
  const server = createServer((_, response) => response.writeHead(501).end());
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', ({ url = '', headers }, socket: Duplex, head) => {
    tunnels.push(url);
    authorizations.add(headers['proxy-authorization']);
    const [host = '', port] = url.split(':');
    const target = hosts[host];
    if (target === undefined) return void socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    const inside = port === '443' ? new TLSSocket(socket, { isServer: true, secureContext }) : socket;
    const server = connect(Number(new URL(target).port), '127.0.0.1');
    sockets.add(server);
    pipeline(inside, server, inside, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Each as `host:port`. */
    tunnels,
    authorizations,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
