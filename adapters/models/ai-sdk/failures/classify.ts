import { STATUS_CODES } from 'node:http';
import { createRedactor, describe, type ModelFailure, networkRemedy } from '../../../../src/adapter-kit.ts';
import { STATUS_GIVEN, webPageIn } from '../wire/unstreamed.ts';
import { reasonIn } from './error-body.ts';
import {
  cutOff,
  elsewhere,
  moderated,
  ofAnswers,
  otherLimits,
  otherUnit,
  overflowing,
  rateLimited,
  refused,
  refusedByProxy,
  rejectedKey,
  says,
  sightless,
  timedOut,
  tooLarge,
  toolless,
  unavailable,
  unknownModel,
  unreadableImage,
  usedUp,
  waits,
  windows,
  wrongRequest,
} from './phrases.ts';
import { retryAfterMs } from './retry-after.ts';

/** What went wrong with a model call, and what the provider said about it. */
export interface Classified {
  readonly reason: ModelFailure;
  readonly detail: string;
  /** What to do, if that is not the usual remedy for the reason. */
  readonly remedy: string | null;
  readonly retryAfterMs: number | null;
  readonly windowTokens: number | null;
  /** What the model lacks; null unless that is the reason. */
  readonly lacks: 'tools' | 'images' | null;
  /** The provider cannot read an image of the request, or does not accept it. */
  readonly isAboutImage: boolean;
  /** The provider rejected the request, and nothing that it said tells why. */
  readonly isUnexplained: boolean;
}

/**
 * Classifies whatever a provider threw or streamed as an error. The order matters: a rate limit mentions tokens too,
 * and a proxy may wrap an overflow in a 503. `now` is the reference for a `retry-after` date. No detail shows the secrets.
 */
export function classify(error: unknown, now: number, secrets: readonly string[] = []): Classified {
  const evidence = gather(error);
  const reason = reasonOf(evidence);
  return {
    reason,
    detail: detailOf(evidence, secrets),
    remedy: MAY_BE_NETWORKS.has(reason) ? networkRemedy(evidence.message) : null,
    retryAfterMs: reason === 'rate-limit' || reason === 'transient' ? retryAfterMs(evidence, now) : null,
    windowTokens: reason === 'overflow' ? windowIn(evidence) : null,
    lacks: reason === 'unsupported' ? lackIn(evidence.text) : null,
    isAboutImage: REJECTIONS.has(reason) && says(evidence.text, unreadableImage),
    isUnexplained: reason === 'fatal' && isRejection(evidence),
  };
}

/** What providers say of an image. A rejected key or a used-up limit has nothing to do with one. */
const REJECTIONS: ReadonlySet<ModelFailure> = new Set(['fatal', 'refused', 'overflow', 'transient']);

/** Reasons that something between the bot and the model can cause. */
const MAY_BE_NETWORKS: ReadonlySet<ModelFailure> = new Set(['transient', 'auth', 'fatal']);

interface Evidence {
  text: string;
  message: string;
  /** The body of the response. */
  body: string;
  readonly names: Set<string>;
  status: number | null;
  retryable: boolean;
  headers: Readonly<Record<string, unknown>>;
}

const FIELDS = ['message', 'code', 'type', 'responseBody', 'error', 'data', 'lastError', 'cause', 'response'] as const;
const MAX_DEPTH = 4;
const MAX_FIELD_LENGTH = 8000;

function reasonOf({ text, names, status, retryable, body }: Evidence): ModelFailure {
  if (names.has('TimeoutError') || says(text, timedOut)) return 'timeout';
  if (names.has('AbortError') && !says(text, refusedByProxy)) return 'aborted';
  if (status === 402 || (says(text, usedUp) && !says(text, waits))) return 'quota';
  if (status === 429 || says(text, rateLimited)) return 'rate-limit';
  // Before "service unavailable", because proxies wrap an overflow in a 503.
  if (status === 413 || says(text, overflowing)) return 'overflow';
  if (says(text, refused) && !says(text, ofAnswers)) return 'refused';
  if (names.has('AI_UnsupportedFunctionalityError') || lackIn(text) !== null) return 'unsupported';
  if (names.has('AI_LoadAPIKeyError')) return 'auth';
  // No page is about the key: filters of companies and protections against attacks send one.
  if (says(text, elsewhere) || (status === 403 && webPageIn(body) !== null)) return 'transient';
  if (status === 403 && says(text, unknownModel)) return 'missing';
  if (status === 401 || status === 403) return says(text, moderated) ? 'fatal' : 'auth';
  if (status === 404) return 'missing';
  if (status === 408) return 'timeout';
  if (says(text, tooLarge) && !says(text, otherLimits)) return 'overflow';
  if (status === 400 && says(text, rejectedKey)) return 'auth';
  if (status === 400 && says(text, unknownModel)) return 'missing';
  if (retryable || (status ?? 0) >= 500 || says(text, unavailable)) return 'transient';
  if (names.has('AI_InvalidResponseDataError')) return 'transient';
  // A server that has begun to answer has accepted the request, unless it says that the request is wrong.
  if (names.has('AI_StreamProviderError') && status === null && !says(text, wrongRequest)) return 'transient';
  return (status === null || (status >= 200 && status < 300)) && says(text, cutOff) ? 'transient' : 'fatal';
}

function isRejection({ status, text }: Evidence): boolean {
  return (status === 400 || status === 422) && !says(text, moderated);
}

function lackIn(text: string): Classified['lacks'] {
  if (says(text, toolless)) return 'tools';
  return says(text, sightless) ? 'images' : null;
}

/** Reads only fields with the provider's response, never the request, which quotes people. */
function gather(error: unknown): Evidence {
  const facts = { names: new Set<string>(), status: null, retryable: false, headers: {} };
  const evidence: Evidence = { text: '', message: '', body: '', ...facts };
  visit(error, evidence, 0);
  return evidence;
}

/** What the SDK says about any answer that it could not read to its end; the cause says why. */
const WRAPPER = 'Failed to process successful response';
/** What the SDK says about a connection, with the message of its cause, which may be empty. */
const UNCONNECTED = 'Cannot connect to API: ';

/** These errors quote the answer, which proves nothing and must not be logged. */
const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ['AI_JSONParseError', 'JSON parsing failed: the server sent an event that is not JSON'],
  ['AI_TypeValidationError', 'type validation failed: the server sent an event that is not part of an answer'],
]);

function visit(value: unknown, evidence: Evidence, depth: number): void {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).slice(0, MAX_FIELD_LENGTH);
    if (!evidence.text.includes(text)) evidence.text += `${text}\n`;
    if (evidence.message === '' && text !== WRAPPER) evidence.message = text;
    return;
  }
  if (depth > MAX_DEPTH || !isRecord(value)) return;
  note(value, evidence);
  const unreadable = UNREADABLE.get(String(value['name']));
  if (unreadable !== undefined) {
    if (isRecord(value['value'])) visit(value['value']['error'], evidence, depth + 1);
    visit(unreadable, evidence, depth + 1);
    return;
  }
  const { message, cause } = value;
  if (typeof message === 'string' && message.startsWith(UNCONNECTED) && cause !== undefined)
    visit(`${UNCONNECTED}${describe(cause)}`, evidence, depth + 1);
  for (const field of FIELDS) visit(value[field], evidence, depth + 1);
}

function note(value: Readonly<Record<string, unknown>>, evidence: Evidence): void {
  const { name, statusCode, isRetryable, responseHeaders, responseBody, lastError } = value;
  if (typeof name === 'string') evidence.names.add(name);
  if (typeof statusCode === 'number') evidence.status ??= statusCode;
  if (isRetryable === true) evidence.retryable = true;
  if (isRecord(responseHeaders)) evidence.headers = responseHeaders;
  if (typeof responseBody === 'string') evidence.body = responseBody.slice(0, MAX_FIELD_LENGTH);
  // The error around several attempts only says that they failed.
  if (lastError !== undefined) evidence.message = '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

const STATUS_TEXTS: ReadonlySet<string> = new Set(Object.values(STATUS_CODES).filter((text) => text !== undefined));

/** What says nothing; OpenRouter has the reason elsewhere in the body. */
const EMPTY: ReadonlySet<string> = new Set([
  ...['', 'Provider returned error'],
  'OpenAI stream failed before any output was generated',
]);

/** How Node.js and the SDK say that the connection was lost. */
const BROKEN_OFF = /^(?:terminated|Response stream ended without a finish reason)\.?$/;

const MIN_SECRET_LENGTH = 6;
/** Google begins with two links before it names the limit. */
const MAX_DETAIL_LENGTH = 500;

function detailOf({ message, status, body, headers }: Evidence, secrets: readonly string[]): string {
  if (BROKEN_OFF.test(message.trim())) return 'the server closed the connection before the answer was complete';
  const isEmpty = EMPTY.has(message.trim()) || STATUS_TEXTS.has(message.trim());
  const page = isEmpty ? webPageIn(body) : null;
  // Some packages make the whole body the message.
  const read = isEmpty || /^[{[]/.test(message) ? reasonIn(isEmpty ? body : message) : null;
  const told = page === null ? read : `${message.trim()}: ${page}`;
  // A shorter one would be part of ordinary words.
  const hide = createRedactor(secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH));
  const shown = hide(told ?? message);
  // Cut last, so that no beginning of a secret is left at the end.
  const line = shown.replace(/\s+/g, ' ').trim().slice(0, MAX_DETAIL_LENGTH) || 'no reason given';
  const safe = line.replace(/\b(?:sk|pk|gsk|xai)-[\w-]{6,}|\bAIza[\w-]{10,}|Bearer \S+/g, '***');
  const given = String(headers[STATUS_GIVEN] ?? '');
  // A server may send a header of this name.
  const sent = /^\d{3}$/.test(given) ? Number(given) : status;
  return sent === null || sent === 200 ? safe : `${safe} (HTTP ${sent})`;
}

/** Smaller numbers cannot be a window. */
const MIN_WINDOW = 256;

/** A proxy's page about a large request has a status in it, but does not know the model. */
function windowIn({ text, body }: Evidence): number | null {
  if (body.trimStart().startsWith('<')) return null;
  for (const phrase of windows) {
    const [found = '', number = ''] = phrase.exec(text) ?? [];
    const tokens = Number(number.replaceAll(',', '') || Number.NaN);
    if (!Number.isInteger(tokens) || tokens < MIN_WINDOW) continue;
    if (!otherUnit.test(text.slice(text.indexOf(found) + found.length))) return tokens;
  }
  return null;
}
