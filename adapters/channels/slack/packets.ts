import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type HTTPReceiver, isValidSlackRequest, type SocketModeReceiver } from '@slack/bolt';
import { z } from 'zod';
import { type ChannelSink, type Drop, describe } from '../../../src/index.ts';
import { PLATFORM } from './place.ts';

/** What a log line says about something that came: the ids of the event, never its text. */
export type Names = Pick<Drop, 'event' | 'channel' | 'externalId'>;

/** Counts and logs a packet that holds nothing the bot could take. */
export function dropMalformed(sink: Pick<ChannelSink, 'dropped'>, names: Names, problem: string | null): void {
  sink.dropped({ platform: PLATFORM, reason: 'malformed', ...names, problem });
}

const objectSchema = z.record(z.string(), z.unknown());
const eventSchema = z.object({ type: z.literal('event_callback'), event: z.object({ type: z.string() }) });
const sideField = z.string().nullish().catch(null);

/** True for a body that the listeners can read: an object, and an event with a type where it carries one. */
export function isReadable(body: unknown): boolean {
  if (!objectSchema.safeParse(body).success) return false;
  return !isEvent(body) || eventSchema.safeParse(body).success;
}

export function isEvent(body: unknown): boolean {
  return z.object({ type: z.literal('event_callback') }).safeParse(body).success;
}

const namesSchema = z.object({
  type: sideField,
  event: z
    .object({
      type: sideField,
      channel: sideField,
      ts: sideField,
      deleted_ts: sideField,
      message: z.object({ ts: sideField }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

/** The ids of an event, as far as they can be read. */
export function namesOf(body: unknown): Names {
  const { type, event } = namesSchema.safeParse(body).data ?? {};
  return {
    event: event?.type ?? type ?? 'packet',
    channel: event?.channel ?? null,
    externalId: event?.deleted_ts ?? event?.message?.ts ?? event?.ts ?? null,
  };
}

const envelopeSchema = z.looseObject({ type: z.string() });

/** The library itself answers these. */
const OWN_TYPES = new Set(['hello', 'disconnect']);
const PAYLOAD_TYPES = new Set(['events_api', 'slash_commands', 'interactive']);
/** No listener has this name: the library emits the type of a packet as an event of its own client. */
const NEUTRAL_TYPE = 'slack_packet';

/**
 * Reads each packet of a socket before the library does. The library throws out of its event handler for packets with
 * missing parts, which ends the process, and emits types such as `close` as if its own socket had closed.
 */
export function guardSocket(client: SocketModeReceiver['client'], onMalformed: (problem: string) => void): void {
  const inner = client.listeners('ws_message');
  const pass = (data: unknown): void => {
    for (const handle of inner) handle.call(client, data, false);
  };
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown) => {
    const envelope = envelopeSchema.safeParse(parseJson(data)).data;
    if (envelope === undefined) return onMalformed('a frame is no packet');
    if (OWN_TYPES.has(envelope.type)) return pass(data);
    // Without a payload it is acknowledged and dropped like every other malformed packet.
    const payload = PAYLOAD_TYPES.has(envelope.type) ? envelope['payload'] : null;
    pass(JSON.stringify({ ...envelope, type: NEUTRAL_TYPE, payload }));
  });
}

function parseJson(data: unknown): unknown {
  if (typeof data !== 'string') return undefined;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** As large as the library takes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface RequestGuard {
  readonly signingSecret: string;
  readonly path: string;
  readonly onMalformed: (problem: string) => void;
}

/** Answers 400 to a signed request whose body is no object: the library throws for it, which ends the process. */
export function guardRequests(receiver: HTTPReceiver, guard: RequestGuard): void {
  const inner = receiver.requestListener;
  receiver.requestListener = (request, response) => {
    const isForSlack = request.method === 'POST' && (request.url ?? '').split('?')[0] === guard.path;
    if (!isForSlack) return dispatch(inner, request, response);
    takeRequest(guard, { inner, request, response }).catch((error: unknown) => {
      guard.onMalformed(describe(error));
      end(response, 400);
    });
  };
}

interface Exchange {
  readonly inner: RequestListener;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function takeRequest(guard: RequestGuard, { inner, request, response }: Exchange): Promise<void> {
  const raw = await readBody(request);
  if (raw === null) return end(response, 413);
  const text = raw.toString();
  if (isObject(text, request.headers['content-type'])) {
    // The library looks here before it reads the request itself.
    return dispatch(inner, Object.assign(request, { rawBody: raw }), response);
  }
  if (!isSigned(guard.signingSecret, text, request)) return end(response, 401);
  guard.onMalformed('the body of a request is no object');
  end(response, 400);
}

/** The library reads the address of a request before anything else, and throws for one that it cannot. */
function dispatch(inner: RequestListener, request: IncomingMessage, response: ServerResponse): void {
  try {
    inner(request, response);
  } catch {
    end(response, 404);
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What the library will make of the body. */
function isObject(text: string, type: string | undefined): boolean {
  const fields = type === 'application/x-www-form-urlencoded' ? new URLSearchParams(text) : null;
  const json = fields === null ? text : fields.get('payload');
  return json === null || objectSchema.safeParse(parseJson(json)).success;
}

function isSigned(signingSecret: string, body: string, { headers }: IncomingMessage): boolean {
  const time = Number(headers['x-slack-request-timestamp']);
  const signature = String(headers['x-slack-signature'] ?? '');
  const given = { 'x-slack-signature': signature, 'x-slack-request-timestamp': time };
  return isValidSlackRequest({ signingSecret, body, headers: given });
}

function end(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status);
  response.end();
}
