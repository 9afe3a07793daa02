import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listenAt } from '../../../src/util/listen.ts';

it('a server waits half a minute for a request', async () => {
  await using server = createServer();
  await listenAt(server, { section: 'operations', address: '127.0.0.1:0' });
  // Node waits for the whole request as long as the longer of the two allows.
  expect([server.requestTimeout, server.headersTimeout]).toEqual([30_000, 30_000]);
});
