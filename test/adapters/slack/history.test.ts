import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { pagesOf } from '../../../adapters/channels/slack/inbound/history.ts';
import { createWeb } from '../../../adapters/channels/slack/web/web.ts';
import { silentLog } from '../../fixtures/models-requests.ts';

it('a history without an end is left after 200 pages', async () => {
  let page = 0;
  const server = createServer((request, response) => {
    request.resume();
    page += 1;
    const next = { has_more: true, response_metadata: { next_cursor: `page ${page}` } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, messages: [{ ts: `${page}.0`, type: 'message', text: 'x' }], ...next }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const web = createWeb('xoxb-1', { settings: { api_url: `http://127.0.0.1:${port}/` }, log: silentLog });
  const context = { workspace: { web }, settings: { catch_up: { page: 1 } }, signal: new AbortController().signal };
  const whole: boolean[] = [];
  const stretch = { channel: 'C1', threadTs: null, oldest: 0 };
  for await (const { isWhole } of pagesOf(context as never, stretch, async () => undefined)) whole.push(isWhole);
  server.close();
  server.closeAllConnections();
  expect(whole).toHaveLength(200);
  // The last one says that more may exist.
  expect(whole.indexOf(false)).toBe(199);
});
