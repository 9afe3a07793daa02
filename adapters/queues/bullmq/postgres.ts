import { createPostgresBackend, Queue, Worker } from 'bullmq';
import { z } from 'zod';
import type { Driver, DriverOptions, OpenQueue, ProducerListeners } from './driver.ts';
import { consumerOf, processorOf, producerOf, queueOptions, workerOptions } from './settings.ts';
import { POOLED } from './trouble.ts';

const CONNECT_LIMIT_MS = 5000;
const QUERY_LIMIT_MS = 15_000;
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 4;

const SCHEMA = 'bullmq';

/**
 * BullMQ asks for its schema when it connects. Parameters of the URL replace that, and some poolers ignore it; those may
 * lend the connection to others, who would then read the wrong schema.
 */
async function prepareSession(client: Session): Promise<void> {
  // A connection that breaks while in use fails its statements; nobody else would listen, and the process would end.
  client.on('error', () => undefined);
  const { rows } = await client.query("select current_setting('search_path') as path, pg_backend_pid() as pid");
  const [{ path, pid }] = sessionRows.parse(rows);
  if (path.replaceAll('"', '') === SCHEMA) return;
  if (client.processID !== pid) throw new Error(POOLED);
  await client.query(`select set_config('search_path', '${SCHEMA}', false)`);
}

/** A connection of the driver that BullMQ uses. */
interface Session {
  /** What the server said when it was opened; a pooler says something else. */
  readonly processID: number | null;
  on(event: 'error', listener: () => void): unknown;
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

const sessionRows = z.tuple([z.object({ path: z.string(), pid: z.int() })]);

/** BullMQ's tables, in a schema of their own, created on the first connection. */
export function createPostgresDriver({ url, prefix, name: own, retryDelayMs }: DriverOptions): Driver {
  const { hostname, port } = new URL(url);
  const name = `${prefix}-${own}`;
  const connection = (max: number) => ({
    connectionString: url,
    max,
    migrate: true,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: QUERY_LIMIT_MS,
    keepAlive: true,
    onConnect: prepareSession,
  });
  const open = ({ onError }: ProducerListeners): OpenQueue => {
    const settings = { connection: connection(PRODUCER_CONNECTIONS), ...queueOptions };
    const queue = new Queue(name, settings, createPostgresBackend);
    queue.on('error', onError);
    return { queue, close: () => queue.close() };
  };
  return {
    where: `Postgres at ${hostname}:${port === '' ? '5432' : port}`,
    open,
    produce(listeners) {
      const producer = producerOf(open(listeners), retryDelayMs);
      return {
        ...producer,
        async ready() {
          await producer.ready();
          listeners.onReady();
        },
      };
    },
    consume(look, options) {
      const settings = { connection: connection(WORKER_CONNECTIONS), ...workerOptions(options) };
      const worker = new Worker(name, processorOf(look, options), settings, createPostgresBackend);
      worker.on('error', options.onError);
      return consumerOf(worker, () => undefined);
    },
  };
}
