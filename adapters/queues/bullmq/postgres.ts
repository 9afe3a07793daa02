import { createPostgresBackend, Queue, Worker } from 'bullmq';
import type { ClientBase } from 'pg';
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
async function prepareSession(client: ClientBase): Promise<void> {
  // A connection that breaks while in use fails its statements; nobody else would listen, and the process would end.
  client.on('error', () => undefined);
  const { rows } = await client.query<{ path: string; pid: number }>(
    "select current_setting('search_path') as path, pg_backend_pid() as pid",
  );
  const [session] = rows;
  if (session?.path.replaceAll('"', '') === SCHEMA) return;
  if ('processID' in client && client.processID !== session?.pid) throw new Error(POOLED);
  await client.query(`select set_config('search_path', '${SCHEMA}', false)`);
}

/** BullMQ's tables, in a schema of their own, created on the first connection. */
export function createPostgresDriver({ url, prefix, retryDelayMs }: DriverOptions): Driver {
  const { hostname, port } = new URL(url);
  const name = `${prefix}-maintenance`;
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
