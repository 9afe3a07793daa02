import { createPostgresBackend, Queue, Worker } from 'bullmq';
import type { Driver, DriverOptions, OpenQueue, ProducerListeners } from './driver.ts';
import { consumerOf, processorOf, producerOf, queueOptions, workerOptions } from './settings.ts';

const CONNECT_LIMIT_MS = 5000;
const QUERY_LIMIT_MS = 15_000;
const PRODUCER_CONNECTIONS = 2;
const WORKER_CONNECTIONS = 4;

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
