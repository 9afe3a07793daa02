import type { ServerResponse } from 'node:http';

/** How calls go wrong. */
export const FAULTS = [
  'hangs',
  'error 500',
  'error 429',
  'garbage',
  'empty',
  'a page',
  'a copy',
  'broken off',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What an answer consists of. */
export interface Answer {
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
  readonly reason: 'stop' | 'tool_calls';
  /** The summary in it. */
  readonly summary: string | null;
}

export function said(text: string): Answer {
  return { deltas: [{ content: text.slice(0, 20) }, { content: text.slice(20) }], reason: 'stop', summary: null };
}

export function send(response: ServerResponse, { deltas, reason }: Answer, tokens: number): void {
  const usage = { prompt_tokens: tokens, completion_tokens: 20 };
  const counted = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage };
  stream(response, [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, reason),
    counted,
    '[DONE]',
  ]);
  response.end();
}

function stream(response: ServerResponse, events: readonly unknown[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
}

function chunk(delta: Readonly<Record<string, unknown>>, finish: string | null = null): unknown {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
}

export function misbehave(
  response: ServerResponse,
  { fault, instructions }: { readonly fault: Fault; readonly instructions: string },
): void {
  switch (fault) {
    case 'hangs':
      // Until the caller gives up.
      return;
    case 'error 500':
      response.writeHead(500).end('{"error":{"message":"The server had an error"}}');
      return;
    case 'error 429':
      response.writeHead(429, { 'retry-after-ms': '100' }).end('{"error":{"message":"Rate limit reached"}}');
      return;
    case 'garbage':
      stream(response, ['{"choices": [{"delta": {"con', '\u0000\u0007%%%']);
      response.end();
      return;
    case 'empty':
      stream(response, [chunk({ role: 'assistant', content: '' }), chunk({}, 'stop'), '[DONE]']);
      response.end();
      return;
    case 'a page':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Gateway</title>');
      return;
    case 'a copy':
      send(response, said(instructions), 0);
      return;
    case 'broken off':
      stream(response, [chunk({ role: 'assistant', content: 'Answer to' })]);
      setTimeout(() => response.destroy(), 20);
      return;
    default:
      fault satisfies never;
  }
}
