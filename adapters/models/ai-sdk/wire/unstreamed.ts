import { z } from 'zod';
import { between, excerpt } from '../../../../src/adapter-kit.ts';
import { parseJson } from './parse-json.ts';
import { headOf } from './response.ts';

/** Longer responses are no errors, and whole answers are shorter. */
const MAX_CHARACTERS = 4_000_000;
const MAX_TITLE_LENGTH = 80;

/** The status that the server sent, if a response says another one so that it is read as an error. */
export const STATUS_GIVEN = 'strata-status-given';

const message = z.looseObject({ tool_calls: z.array(z.looseObject({})).nullish() });
const completion = z.looseObject({ choices: z.array(z.looseObject({ message })).min(1) });
/** Without `alt=sse`, Google answers with a list of its events. */
const google = z.array(z.looseObject({ candidates: z.array(z.unknown()).min(1) })).min(1);
const told = z.object({ error: z.unknown().refine((error) => error !== undefined && error !== null) });
const numbered = z.object({ error: z.object({ code: z.coerce.number().int().min(400).max(599) }) });

/**
 * Some servers answer a request for a stream with status 200 and an error, a whole answer or a web page, all of which
 * the provider packages read as an empty stream. An error becomes an error response, and a whole answer a stream.
 */
export function withStreams(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || response.body === null) return response;
    const opened = await open(response.body.getReader());
    if (!/^[[{<]/.test(opened.start)) return new Response(opened.rest, headOf(response));
    return replaced(await textOf(opened.rest), response);
  };
}

interface Opened {
  /** From the first character that is not a space. */
  readonly start: string;
  /** The whole body again. */
  readonly rest: ReadableStream<Uint8Array>;
}

async function open(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Opened> {
  const read: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let start = '';
  while (start === '') {
    const { value, done } = await reader.read();
    if (done) break;
    read.push(value);
    start = decoder.decode(value, { stream: true }).trimStart();
  }
  return { start, rest: again(read, reader) };
}

/** A reader who leaves early ends the response, even before the first part. */
function again(read: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const known = read.shift();
      const next = known === undefined ? await reader.read() : { value: known, done: false };
      if (next.value === undefined) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_CHARACTERS) break;
  }
  return text;
}

function replaced(text: string, response: Response): Response {
  const body = parseJson(text);
  const events = eventsOf(body);
  if (events !== null) {
    const stream = events.map((event) => `data: ${event}\n\n`).join('');
    return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  }
  const headers = new Headers(headOf(response).headers);
  headers.set(STATUS_GIVEN, String(response.status));
  // Google puts its errors into a list.
  const said: unknown = Array.isArray(body) ? body[0] : body;
  if (told.safeParse(said).success) {
    const status = numbered.safeParse(said).data?.error.code ?? 500;
    return new Response(text, { headers, status });
  }
  const message = `The server answered with ${webPageIn(text) ?? 'JSON'} instead of a stream`;
  const error = { type: 'api_error', message };
  return Response.json({ type: 'error', error }, { headers, status: 502 });
}

function eventsOf(body: unknown): readonly string[] | null {
  const whole = completion.safeParse(body).data;
  if (whole !== undefined) return [JSON.stringify({ ...whole, choices: whole.choices.map(toChunk) }), '[DONE]'];
  const parts = google.safeParse(Array.isArray(body) ? body : [body]).data;
  return parts?.map((part) => JSON.stringify(part)) ?? null;
}

/** Names a page by its title; null for any other text. */
export function webPageIn(text: string): string | null {
  return text.trimStart().startsWith('<') ? `a web page${titleOf(text)}` : null;
}

/** It often says which server answered: a login, a proxy, or a provider that is down. */
function titleOf(page: string): string {
  const title = between(page, /<title[^>]{0,200}>/i, /<\/title>/i) ?? '';
  const shown = excerpt(title, MAX_TITLE_LENGTH);
  return shown === '' ? '' : ` "${shown}"`;
}

type Choice = z.infer<typeof completion>['choices'][number];

function toChunk({ message: { tool_calls, ...message }, ...choice }: Choice) {
  const calls = tool_calls?.map((call, index) => ({ index, ...call }));
  return { ...choice, delta: calls === undefined ? message : { ...message, tool_calls: calls } };
}
