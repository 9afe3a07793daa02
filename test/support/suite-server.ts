import { afterAll, beforeAll } from 'vitest';

const START_LIMIT_MS = 120_000;

/** A server for all tests of a suite, once they run. */
export function serverForSuite<Server extends AsyncDisposable>(start: () => Promise<Server>): () => Server {
  let server: Server | null = null;
  beforeAll(async () => {
    server = await start();
  }, START_LIMIT_MS);
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === null) throw new Error('the server has not started');
    return server;
  };
}
