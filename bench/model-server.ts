import { chunk, serve, sse } from '../test/fixtures/models-server.ts';

/** A model behind HTTP, for bots in other processes. Every answer takes the same time. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** Null: requests are accepted and never answered. */
  latencyMs: number | null;
  /** Called with the text of every request when it arrives. */
  onRequest: (text: string) => void;
}

const SUMMARY = 'People talked about the plan for the week, agreed on the next steps, and left the rest for later.';

export async function openModelServer(latencyMs: number): Promise<ModelServer> {
  const manner: Pick<ModelServer, 'latencyMs' | 'onRequest'> = { latencyMs, onRequest: () => undefined };
  const usage = { prompt_tokens: 0, completion_tokens: 24 };
  const counted = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage };
  const answer = [chunk({ role: 'assistant', content: SUMMARY }), chunk({}, 'stop'), counted, '[DONE]'];
  const server = await serve((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    manner.onRequest(JSON.stringify(request.body));
    if (manner.latencyMs === null) return;
    setTimeout(() => {
      if (response.destroyed) return;
      sse(response, answer);
      response.end();
    }, manner.latencyMs);
  });
  return Object.assign(manner, {
    url: `${server.url}/v1`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}
