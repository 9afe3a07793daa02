import { isIP } from 'node:net';
import { hostname as machineName } from 'node:os';

/**
 * Whether a `Host` header names this server. A page of another site can make a browser on this machine request this
 * server under its own name (DNS rebinding). Such a name has a dot and is not in the configuration. HTTP/1.0 probes
 * send no name.
 */
export function isOwnHost(header: string | undefined, listen: string): boolean {
  if (header === undefined || header === '') return true;
  const name = nameOf(header);
  if (name === null) return false;
  const isAddress = isIP(name.replace('[', '').replace(']', '')) !== 0;
  return isAddress || !name.includes('.') || [nameOf(listen), machineName().toLowerCase()].includes(name);
}

/** The host of `host:port` in lower case, an IPv6 address in brackets; null if it is invalid. */
function nameOf(host: string): string | null {
  const address = `http://${host}/`;
  if (!URL.canParse(address)) return null;
  const { hostname, username, pathname } = new URL(address);
  return username === '' && pathname === '/' ? hostname : null;
}
