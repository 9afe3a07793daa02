import { isIP } from 'node:net';
import { hostname as machineName } from 'node:os';
import { hostNameOf } from '../../../src/adapter-kit.ts';

/**
 * Whether a `Host` header names this server. A page of another site can make a browser on this machine request this
 * server under its own name (DNS rebinding). Such a name has a dot and is not in the configuration. HTTP/1.0 probes
 * send no name.
 */
export function isOwnHost(header: string | undefined, listen: string): boolean {
  if (header === undefined || header === '') return true;
  const name = hostNameOf(header);
  if (name === null) return false;
  const isAddress = isIP(name.replace('[', '').replace(']', '')) !== 0;
  return isAddress || !name.includes('.') || [hostNameOf(listen), machineName().toLowerCase()].includes(name);
}
