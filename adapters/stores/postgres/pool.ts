import { Socket } from 'node:net';
import pg from 'pg';
import { isLost } from './failures.ts';

export interface PoolSettings {
  readonly url: string;
  readonly connections: number;
  /** Time limit of one statement; null for long work. */
  readonly limitMs: number | null;
  /** Sends statements without waiting for earlier ones to return. */
  readonly pipeline: boolean;
  /** Receives the open sockets: `end` of a client waits for statements that it has sent. */
  readonly sockets: Set<Socket>;
}

const CONNECT_LIMIT_MS = 5_000;
/** Network delay in addition to the server's own time limit. */
const NETWORK_ALLOWANCE_MS = 5_000;

export function createPool({ url, connections, limitMs, pipeline, sockets }: PoolSettings): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: 'strata',
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    pipeline,
    stream: () => openSocket(sockets),
    types: { getTypeParser },
    onConnect: (client) => prepareSession(client, limitMs),
    ...(limitMs === null ? {} : { query_timeout: limitMs + NETWORK_ALLOWANCE_MS }),
  });
  // A connection that broke while idle is replaced by the next use.
  pool.on('error', () => undefined);
  // One that breaks while in use fails its statements; nobody else would listen, and the process would end.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Rejects if the server does not respond in time. A refusal is a response. */
export async function probeServer(
  connectionString: string,
  { limitMs, sockets }: { readonly limitMs: number; readonly sockets: Set<Socket> },
): Promise<void> {
  const limits = { connectionTimeoutMillis: limitMs, query_timeout: limitMs };
  const client = new pg.Client({ connectionString, ...limits, stream: () => openSocket(sockets) });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } catch (error) {
    if (isLost(error)) throw error;
  } finally {
    // Not awaited: a server that does not respond would not answer the farewell either.
    client.end().catch(() => undefined);
  }
}

function openSocket(open: Set<Socket>): Socket {
  const socket = new Socket();
  open.add(socket);
  return socket.once('close', () => open.delete(socket));
}

/** Limits that the database or the user may have for other programs. Not every release knows all of them. */
const FOREIGN_LIMITS = "'lock_timeout', 'idle_session_timeout', 'transaction_timeout'";

/** Set here instead of at the start of the connection, because a proxy in between may reject it there. */
async function prepareSession(client: pg.ClientBase, limitMs: number | null): Promise<void> {
  const limit = limitMs ?? 0;
  // Compiling a search plan never pays off. Responses before the data is written are disabled.
  const { rows } = await client.query<{ early: boolean }>(
    `select (select reset_val = 'off' from pg_settings where name = 'synchronous_commit') as early, set_config('jit', 'off', false), set_config('statement_timeout', '${limit}', false),
       set_config('idle_in_transaction_session_timeout', '${limit}', false),
       set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
         else current_setting('synchronous_commit') end, false),
       (select count(set_config(name, '0', false)) from pg_settings where name in (${FOREIGN_LIMITS}))`,
  );
  if (rows[0]?.early === true) early.add(client);
}

const early = new WeakSet<object>();

/**
 * The server responds to commits before the data is written, unless told otherwise. A pooler may forget what a session
 * was told, so each transaction has to say it.
 */
export function respondsEarly(client: pg.ClientBase): boolean {
  return early.has(client);
}

const { INT8, NUMERIC } = pg.types.builtins;

/** Counts and times are numbers, as on every engine. */
function getTypeParser(type: number, format?: 'text' | 'binary') {
  if ((type === INT8 || type === NUMERIC) && format !== 'binary') return Number;
  return pg.types.getTypeParser(type, format);
}
