import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface JsonRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A server on this machine. A `text` is sent as it is, and a request without an answer stays open. */
export async function startJsonServer(
  answer: (request: JsonRequest) => { status?: number; body: unknown; text?: string } | null,
) {
  const requests: JsonRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { url: path = '', headers } = incoming;
    const request = { path, authorization: headers.authorization, body: await text(incoming) };
    requests.push(request);
    const answered = answer(request);
    if (answered === null) return;
    outgoing.writeHead(answered.status ?? 200, { 'content-type': 'application/json' });
    outgoing.end(answered.text ?? JSON.stringify(answered.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
