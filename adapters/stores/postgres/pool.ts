import pg from 'pg';

export interface PoolSettings {
  readonly url: string;
  readonly connections: number;
  /** Time limit of one statement; null for work that may take long. */
  readonly limitMs: number | null;
  /** Sends statements without waiting for the answers of those before. */
  readonly pipeline: boolean;
}

const CONNECT_LIMIT_MS = 5_000;
/** What the network may add to a statement that the server itself ends in time. */
const NETWORK_ALLOWANCE_MS = 5_000;

export function createPool({ url, connections, limitMs, pipeline }: PoolSettings): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: 'strata',
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    pipeline,
    types: { getTypeParser },
    onConnect: (client) => prepareSession(client, limitMs),
    ...(limitMs === null ? {} : { query_timeout: limitMs + NETWORK_ALLOWANCE_MS }),
  });
  // A connection that broke while it lay idle is replaced by the next use.
  pool.on('error', () => undefined);
  return pool;
}

/** Set here and not at the connection's start: what stands between us and the server may refuse it there. */
async function prepareSession(client: pg.ClientBase, limitMs: number | null): Promise<void> {
  const limit = limitMs ?? 0;
  // A plan for a search is never worth compiling. A server that answers before it has written is configured not to.
  await client.query(
    `select set_config('jit', 'off', false), set_config('statement_timeout', '${limit}', false),
       set_config('idle_in_transaction_session_timeout', '${limit}', false),
       set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
         else current_setting('synchronous_commit') end, false)`,
  );
}

const { INT8, NUMERIC } = pg.types.builtins;

/** Counts and times are numbers, as on every engine. */
function getTypeParser(type: number, format?: 'text' | 'binary') {
  if ((type === INT8 || type === NUMERIC) && format !== 'binary') return Number;
  return pg.types.getTypeParser(type, format);
}
