import type { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import type { Storage } from '../../../src/adapter-kit.ts';
import type { Tables } from '../sql/index.ts';
import { createLinks } from './links.ts';
import { createPool, probeServer } from './pool.ts';
import { createPulse, type PulseLimits } from './pulse.ts';
import { createPostgresStorageOn } from './storage.ts';

/** Connections per process: enough for its turns and jobs, few enough for many processes on one server. */
const CONNECTIONS = 8;
/** No statement of a turn or a job takes this long, so the server or the network is down. */
const STATEMENT_LIMIT_MS = 60_000;

export async function openPostgres({
  url,
  create,
  limits,
}: {
  readonly url: string;
  readonly create: boolean;
  readonly limits: PulseLimits;
}): Promise<Storage> {
  const sockets = new Set<Socket>();
  const drop = () => sockets.forEach((socket) => void socket.destroy());
  const pool = createPool({ url, sockets, connections: CONNECTIONS, limitMs: STATEMENT_LIMIT_MS, pipeline: true });
  let connectedAt = 0;
  pool.on('connect', () => {
    connectedAt = Date.now();
  });
  const upkeepPool = createPool({ url, sockets, connections: 1, limitMs: null, pipeline: false });
  const pulse = createPulse({ probe: () => probeServer(url, { limitMs: limits.suspectMs, sockets }), drop, limits });
  return createPostgresStorageOn({
    links: createLinks({ pool, connections: CONNECTIONS, pulse }),
    upkeep: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: upkeepPool }) }),
    connectedAt: () => connectedAt,
    drop,
    place: placeOf(url),
    create,
  });
}

/** The URL without its secrets, for messages. */
function placeOf(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
