import type { ServerResponse } from 'node:http';
import { chunk, type Received, serve, sse, type TestServer } from '../fixtures/models-server.ts';

/** How the model does the background work; replies always come. */
export type Mode = 'well' | 'hangs' | 'fails';
/** The purpose of a request, and the progress of its answer. */
export type Moment = `${'a reply' | 'a summary'} is ${'asked for' | 'half sent' | 'sent'}`;

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  mode: Mode;
  /** Called at each moment; its effects happen before the next one. */
  onMoment: (moment: Moment) => void;
  /** Requests for summaries, condensed ones and memories so far. */
  readonly asked: { summaries: number; replies: number };
  /** Ends the connections of the requests that hang. */
  breakOff(): void;
}

const FACT = /My parcel \d+ is at the post office\./gu;

/** An OpenAI-compatible server whose answers follow from the requests. */
export async function createModelServer(): Promise<ModelServer> {
  const asked = { summaries: 0, replies: 0 };
  const hung = new Set<ServerResponse>();
  const manner: Pick<ModelServer, 'mode' | 'onMoment'> = { mode: 'well', onMoment: () => undefined };
  const server: TestServer = await serve((request, response) => {
    const text = JSON.stringify(request.body);
    const isSummary = /<(?:transcript|summaries)-/u.test(text);
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    asked[isSummary ? 'summaries' : 'replies'] += 1;
    manner.onMoment(isSummary ? 'a summary is asked for' : 'a reply is asked for');
    if (isSummary && manner.mode === 'hangs') {
      hung.add(response);
      return;
    }
    if (isSummary && manner.mode === 'fails') {
      response.writeHead(500).end('{"error":{"message":"overloaded"}}');
      return;
    }
    const answer = isSummary ? summaryOf(text) : replyTo(request, text);
    const half = isSummary ? 'a summary is half sent' : 'a reply is half sent';
    const whole = isSummary ? 'a summary is sent' : 'a reply is sent';
    send(response, answer, { half: () => manner.onMoment(half), whole: () => manner.onMoment(whole) });
  });
  return Object.assign(manner, {
    url: server.url,
    asked,
    breakOff() {
      for (const response of hung) response.destroy();
      hung.clear();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}

interface Answer {
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
  readonly reason: 'stop' | 'tool_calls';
}

function summaryOf(text: string): Answer {
  const facts = [...new Set(text.match(FACT) ?? [])];
  const summary = `Ada spoke of ${facts.length} parcels: ${facts.map((fact) => fact.match(/\d+/u)?.[0]).join(', ')}.`;
  if (!text.includes('"memory_save"')) return said(summary);
  // Lines of the transcript, as in the JSON of the request.
  const memories = text.split('\\n[#').flatMap((line) => {
    const fact = line.match(FACT)?.[0];
    const seq = Number(/^(\d+) \|/u.exec(line)?.[1] ?? 0);
    return fact === undefined || seq === 0 ? [] : [callOf('memory_save', { kind: 'fact', text: fact, sources: [seq] })];
  });
  const calls = [...(text.includes('"summary_save"') ? [callOf('summary_save', { summary })] : []), ...memories];
  return calls.length === 0 ? said('NOTHING') : called(calls);
}

function replyTo({ body }: Received, text: string): Answer {
  const name = [...text.matchAll(/\b(x\d+) My parcel/gu)].at(-1)?.[1] ?? 'nobody';
  const messages = Array.isArray(body?.['messages']) ? body['messages'] : [];
  const hasResults = JSON.stringify(messages.at(-1) ?? '').includes('"role":"tool"');
  if (Number(name.slice(1)) % 3 !== 0 || hasResults) {
    return said(`Answer to ${name}. ${'Noted and kept in mind for later. '.repeat(4)}`.trim());
  }
  return called([0, 1].map((index) => callOf('look', { what: `${name}.${index}` })));
}

function said(text: string): Answer {
  return { deltas: [{ content: text.slice(0, 40) }, { content: text.slice(40) }], reason: 'stop' };
}

/** Parallel calls with the same ids in every answer, as some servers send them. */
function called(calls: readonly object[]): Answer {
  const deltas = calls.map((call, index) => ({
    tool_calls: [{ index, id: `call_${index}`, type: 'function', function: call }],
  }));
  return { deltas, reason: 'tool_calls' };
}

function callOf(name: string, input: object): object {
  return { name, arguments: JSON.stringify(input) };
}

interface Steps {
  half(): void;
  whole(): void;
}

function send(response: ServerResponse, { deltas, reason }: Answer, steps: Steps): void {
  const [first = {}, ...rest] = deltas;
  sse(response, [chunk({ role: 'assistant', content: '' }), chunk(first)]);
  steps.half();
  const usage = { prompt_tokens: 0, completion_tokens: 9 };
  const counted = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage };
  sse(response, [...rest.map((delta) => chunk(delta)), chunk({}, reason), counted, '[DONE]']);
  response.end(() => steps.whole());
}
