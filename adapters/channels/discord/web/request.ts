import { DefaultRestOptions, type RESTOptions } from 'discord.js';
import { z } from 'zod';
import { describe } from '../../../../src/adapter-kit.ts';
import { MAX_ANSWER_BYTES, readAtMost } from '../../shared/downloads.ts';

type Request = Parameters<RESTOptions['makeRequest']>;

/**
 * Reads the whole response within the time limit of the request, because the library's limit ends with the headers. A
 * response that is not Discord's own counts as an outage.
 */
export const makeRequest: RESTOptions['makeRequest'] = async (url, init) => {
  if (init.method !== 'POST' || !NEW_MESSAGE.test(url)) return await makeOne(url, init);
  const response = await makeOne(url, init).catch((error: unknown) => {
    throw new Error(lossOf(error), { cause: error });
  });
  const { status, statusText } = response;
  if (status >= 500 && statusText.startsWith(NOT_DISCORD)) throw new Error(statusText);
  if (status >= 500) throw new Error(`Discord answered ${status} ${statusText}`.trim());
  return response;
};

/**
 * The library would retry such a request at once. The message may exist already, and not every server enforces nonces,
 * so the caller must look for it before a retry.
 */
const NEW_MESSAGE = /\/channels\/\d+\/messages$/;

/** Reworded, because the library retries errors that it recognises as aborted or reset. */
function lossOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return 'no response in time';
  return describe(error).replace('ECONNRESET', 'the connection was reset');
}

async function makeOne(url: Request[0], init: Request[1]): Promise<Response> {
  const response = await send(url, init);
  const { status, headers } = response;
  const text = await textOf(response);
  const read = judged({ status, headers: Object.fromEntries(headers), text });
  const statusText = read.status === status ? response.statusText : `${NOT_DISCORD} (HTTP ${status})`;
  return new Response(read.text === '' ? null : read.text, { status: read.status, statusText, headers: read.headers });
}

async function textOf({ body }: Pick<Awaited<ReturnType<typeof send>>, 'body'>): Promise<string> {
  const bytes = body === null ? Buffer.alloc(0) : await readAtMost(body, MAX_ANSWER_BYTES);
  if (bytes === null) throw new Error('the response is too large');
  return new TextDecoder().decode(bytes);
}

/**
 * With files as bytes: whichever copy of undici is loaded first sends for all of them, and some refuse the form of
 * another. A process with Slack has two copies.
 */
async function send(url: Request[0], init: Request[1]) {
  if (!(init.body instanceof FormData)) return await DefaultRestOptions.makeRequest(url, init);
  const form = new Response(init.body);
  const headers = Object.fromEntries(new Headers(Object.entries(init.headers ?? {})));
  headers['content-type'] = form.headers.get('content-type') ?? 'multipart/form-data';
  const body = new Uint8Array(await form.arrayBuffer());
  return await DefaultRestOptions.makeRequest(url, { ...init, headers, body });
}

interface RestResponse {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const BAD_GATEWAY = 502;
/** Followed by the status that was really received. */
const NOT_DISCORD = 'The response does not come from Discord';
const TOO_MANY = 429;
const TOO_LARGE = 413;

/** The response as the library can read it: with usable times, and 502 for pages of proxies and cut JSON. */
function judged({ status, headers: given, text }: RestResponse): RestResponse {
  const { 'content-length': _length, 'content-encoding': _encoding, ...own } = given;
  const json = parseJson(text);
  // Some servers send an empty response with a JSON content type.
  const headers = { ...own, 'content-type': json === undefined ? 'text/plain' : 'application/json' };
  if (status === TOO_MANY || isLimit(status, json)) {
    return { status: TOO_MANY, text, headers: withWait(headers, json) };
  }
  const isRead = isDiscords(status, text, json);
  return { status: isRead ? status : BAD_GATEWAY, text, headers: withSaneReset(headers) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const errorSchema = z.looseObject({ code: z.unknown() });
/** "internal network error": a refusal by the network in front of Discord. */
const NETWORK_ERROR = 40333;

function isDiscords(status: number, text: string, json: unknown): boolean {
  // A body that a proxy finds too large will always be too large.
  if (status >= 500 || status === TOO_LARGE) return true;
  if (status < 300) return text === '' || (typeof json === 'object' && json !== null);
  const error = errorSchema.safeParse(json).data;
  return status >= 400 && error !== undefined && error.code !== NETWORK_ERROR;
}

/** Errors that a later attempt does not get, whatever their status: slow mode, write limits, an overload. */
const LIMITS: ReadonlySet<unknown> = new Set([20_016, 20_028, 20_029, 40_062, 130_000]);

function isLimit(status: number, json: unknown): boolean {
  return status >= 400 && status < 500 && LIMITS.has(errorSchema.safeParse(json).data?.code);
}

const limitSchema = z.object({ retry_after: z.number().positive() });
/** The pause after a rate limit that does not name one. */
const UNKNOWN_WAIT_S = 5;
/** An absurd number must not close a channel for days. A limit that really lasts longer is answered again. */
const MAX_WAIT_S = 3_600;

const RESET = 'x-ratelimit-reset-after';
const REMAINING = 'x-ratelimit-remaining';
const GLOBAL = 'x-ratelimit-global';

/**
 * Without a usable time, the library would repeat the request at once, and forever. A limit that is not the bucket's
 * own, such as a proxy's, would be waited for without a word: so the bucket counts as used up until its end.
 */
function withWait(headers: RestResponse['headers'], json: unknown): RestResponse['headers'] {
  const waits = [Number(headers['retry-after']), limitSchema.safeParse(json).data?.retry_after ?? 0];
  const usable = waits.filter((seconds) => seconds > 0);
  // The header is rounded, or counts in milliseconds.
  const wait = String(Math.min(MAX_WAIT_S, ...(usable.length > 0 ? usable : [UNKNOWN_WAIT_S])));
  const bucket = headers[GLOBAL] === undefined ? { [REMAINING]: '0', [RESET]: wait } : {};
  return { ...withSaneReset(headers), ...bucket, 'retry-after': wait };
}

function withSaneReset(headers: RestResponse['headers']): RestResponse['headers'] {
  return Number(headers[RESET]) > MAX_WAIT_S ? { ...headers, [RESET]: String(MAX_WAIT_S) } : headers;
}
