import type { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import type { Storage } from '../../../src/adapter-kit.ts';
import type { Tables } from '../sql/index.ts';
import { createLinks } from './links.ts';
import { createPool } from './pool.ts';
import { createPostgresStorageOn } from './storage.ts';

export interface PostgresOptions {
  /** postgres://user:password@host:port/database. Parameters of libpq may follow, such as `?sslmode=verify-full`. */
  readonly url: string;
  /** False throws `STORE_MISSING` if there are no tables yet. Default true: they are created. */
  readonly create?: boolean;
}

/** Connections per process: enough for its turns and jobs, few enough for many processes on one server. */
const CONNECTIONS = 8;
/** No statement of a turn or a job takes this long, so the server or the network is down. */
const STATEMENT_LIMIT_MS = 60_000;

/**
 * Stores everything in one database, for any number of processes. Rejects if it is unusable at first; later it
 * reconnects automatically.
 */
export async function createPostgresStorage({ url, create = true }: PostgresOptions): Promise<Storage> {
  const sockets = new Set<Socket>();
  const pool = createPool({ url, sockets, connections: CONNECTIONS, limitMs: STATEMENT_LIMIT_MS, pipeline: true });
  const upkeepPool = createPool({ url, sockets, connections: 1, limitMs: null, pipeline: false });
  return createPostgresStorageOn({
    links: createLinks(pool, CONNECTIONS),
    upkeep: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: upkeepPool }) }),
    drop: () => sockets.forEach((socket) => void socket.destroy()),
    place: placeOf(url),
    create,
  });
}

/** The URL without its secrets, for messages. */
function placeOf(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
