import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

const START_LIMIT_MS = 120_000;

/** A server for all tests of a suite, once they run. */
export function serverForSuite(programs: Parameters<typeof startPostgres>[0]): () => PostgresServer {
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    server = await startPostgres(programs);
  }, START_LIMIT_MS);
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === null) throw new Error('the server has not started');
    return server;
  };
}
