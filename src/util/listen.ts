import { once } from 'node:events';
import type { Server } from 'node:http';
import { describe, StrataError } from '../domain/errors.ts';

const RECEIVED_WITHIN_MS = 30_000;
/** At the same time. More than anybody needs, and few of those that a process can open. */
const MAX_CONNECTIONS = 1000;

/**
 * Listens at `host:port` and returns the URL with the port in use. The server does not keep the process alive. Throws
 * `LISTEN_FAILED`.
 */
export async function listenAt(
  server: Server,
  { section, address }: { readonly section: 'operations' | 'inspector'; readonly address: string },
): Promise<string> {
  const { hostname, port } = new URL(`http://${address}`);
  receiveWithin(server, RECEIVED_WITHIN_MS);
  try {
    server.listen({ host: hostname.replace(/^\[|\]$/gu, ''), port: port === '' ? 80 : Number(port) });
    await once(server, 'listening');
  } catch (error) {
    throw new StrataError('LISTEN_FAILED', { section, address, reason: describe(error) }, { cause: error });
  }
  server.unref();
  const bound = server.address();
  return `http://${hostname}:${typeof bound === 'object' && bound !== null ? bound.port : port}`;
}

/**
 * Limits the time for receiving a whole request, so that nobody holds a connection by sending one byte at a time, and the
 * number of connections, so that nobody takes those that the bot needs.
 */
export function receiveWithin(server: Server, limitMs: number): void {
  server.requestTimeout = limitMs;
  // Node.js applies the longer of the two limits to the whole request.
  server.headersTimeout = limitMs;
  server.maxConnections = MAX_CONNECTIONS;
}

/** The host of `host:port` in lower case, an IPv6 address in brackets; null if it is invalid. */
export function hostNameOf(host: string): string | null {
  const address = `http://${host}/`;
  if (!URL.canParse(address)) return null;
  const { hostname, username, pathname } = new URL(address);
  return username === '' && pathname === '/' ? hostname : null;
}
