import { webApi } from '@slack/bolt';
import { type Clock, describe, type Log, StrataError } from '../../../../src/adapter-kit.ts';
import { MAX_UNKNOWN_TRIES } from '../../shared/post-tries.ts';
import { unlessAborted } from '../../shared/within.ts';
import type { SlackSettings } from '../settings.ts';
import { createFetch, NOT_SLACK } from './request.ts';

/** The caller decides about retries: a post with a lost response may exist, and the library would repeat it. */
const RETRIES = { retries: 0 };
/** For each call. */
export const TIME_LIMIT_MS = 15_000;
const API_URL = 'https://slack.com/api/';

interface Redirection {
  /** The current id of the channel that a call names. */
  current(channel: string): Promise<string>;
  /** The new id of a channel that Slack did not find; null if it has no other. */
  moved(channel: string): Promise<string | null>;
}

/** The library's client. Every call that names a channel goes through `apiCall`. */
class RedirectedClient extends webApi.WebClient {
  #redirection: Redirection = { current: async (channel) => channel, moved: async () => null };

  /** Later calls for a channel use the id that the redirection returns. */
  redirect(redirection: Redirection): void {
    this.#redirection = redirection;
  }

  override async apiCall(method: string, options: Record<string, unknown> = {}): Promise<webApi.WebAPICallResult> {
    const { current, moved } = this.#redirection;
    const name = ['channel', 'channel_id'].find((one) => typeof options[one] === 'string');
    if (name === undefined) return await super.apiCall(method, options);
    const id = await current(String(options[name]));
    try {
      return await super.apiCall(method, { ...options, [name]: id });
    } catch (error) {
      const other = codeOf(error) === NOT_FOUND ? await moved(id) : null;
      if (other === null) throw error;
      return await super.apiCall(method, { ...options, [name]: other });
    }
  }

  /** Whether Slack finds the channel under exactly this id; null if it refuses. Rejects if it does not respond. */
  async knows(channel: string): Promise<boolean | null> {
    try {
      await super.apiCall('conversations.info', { channel });
      return true;
    } catch (error) {
      if (!isFinal(error)) throw error;
      return codeOf(error) === NOT_FOUND ? false : null;
    }
  }
}

export const NOT_FOUND = 'channel_not_found';

export type Web = RedirectedClient;

export interface WebOptions {
  readonly settings: Pick<SlackSettings, 'api_url'>;
  readonly log: Log;
  /** Aborted when the bot stops. Questions to Slack that are still open then end. */
  readonly signal?: AbortSignal;
}

/** A token that may change is read before each call. */
export function createWeb(token: string | (() => string) | undefined, options: WebOptions): Web {
  const ownOptions = clientOptions(options);
  if (typeof token !== 'function') return new RedirectedClient(token, ownOptions);
  const fetch: webApi.FetchFunction = (url, request) =>
    ownOptions.fetch(url, { ...request, headers: { ...request?.headers, Authorization: `Bearer ${token()}` } });
  return new RedirectedClient(undefined, { ...ownOptions, fetch });
}

export function clientOptions({ settings, log, signal }: WebOptions) {
  const { api_url: url } = settings;
  return {
    ...(url === '' ? {} : { slackApiUrl: url }),
    retryConfig: RETRIES,
    rejectRateLimitedCalls: true,
    timeout: TIME_LIMIT_MS,
    fetch: createFetch(url === '' ? API_URL : url, signal),
    logger: slackLogger(log),
  };
}

/**
 * The library's lines in Strata's log, one level lower, because important failures are logged where they are handled.
 */
export function slackLogger(log: Log) {
  const write = (...words: unknown[]) => log.debug(`Slack: ${words.map(String).join(' ').slice(0, 500)}`);
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: write,
    error: write,
    setLevel: () => undefined,
    getLevel: () => levels.WARN,
    setName: () => undefined,
  };
}

const levels = webApi.LogLevel;

export function codeOf(error: unknown): string | null {
  return error instanceof webApi.WebAPIPlatformError ? String(error.data.error) : null;
}

/** Why Slack did not answer, without the words that the library puts before each reason. */
export function outageOf(error: unknown): string {
  if (error instanceof webApi.WebAPIRequestError) return describe(error.original);
  if (!(error instanceof webApi.WebAPIHTTPError)) return describe(error);
  const { statusMessage, statusCode } = error;
  return statusMessage.startsWith(NOT_SLACK) ? statusMessage : `${statusMessage} (HTTP ${statusCode})`.trim();
}

/** The pause after a rate limit error that does not name one. */
const UNKNOWN_WAIT_S = 30;
const NO_HEADER = 'Retry header did not contain a valid timeout';

/** Slack asks for minutes at most; an absurd number must not close a channel for weeks. */
const MAX_WAIT_S = 3_600;
/** A proxy may answer with none or less; the question would be repeated in a loop. */
const MIN_WAIT_S = 1;
const RATE_LIMITS = new Set(['ratelimited', 'rate_limited', 'message_limit_exceeded']);

/** In seconds; null for anything but a rate limit error. */
export function retryAfterOf(error: unknown): number | null {
  if (error instanceof webApi.WebAPIRateLimitedError)
    return Math.min(Math.max(error.retryAfter, MIN_WAIT_S), MAX_WAIT_S);
  const isUnknown =
    RATE_LIMITS.has(codeOf(error) ?? '') || (error instanceof Error && error.message.startsWith(NO_HEADER));
  return isUnknown ? UNKNOWN_WAIT_S : null;
}

const FIRST_REACHING_PAUSE_MS = 250;
const MAX_REACHING_PAUSE_MS = 30_000;

/** The pause before the bot tries again to reach Slack, which it does for as long as it runs. */
export function reachingPauseMs(error: unknown, attempt: number): number {
  const askedMs = (retryAfterOf(error) ?? 0) * 1000;
  return Math.max(askedMs, Math.min(MAX_REACHING_PAUSE_MS, FIRST_REACHING_PAUSE_MS * 2 ** attempt));
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** If Slack asks for a longer pause, the error is thrown, and the caller waits. Default: no limit. */
  readonly maxWaitMs?: number;
  /** How often a call that may be repeated is tried. Default: for about twenty seconds. */
  readonly attempts?: number;
}

const MAX_WAITS = 20;

/** Repeats a call that Slack has limited, after the pause that Slack asks for. */
export async function retryRateLimited<Result>(call: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { clock, signal, maxWaitMs = Number.POSITIVE_INFINITY } = options;
  for (let wait = 0; ; wait += 1) {
    try {
      return await call();
    } catch (error) {
      const seconds = retryAfterOf(error);
      if (seconds === null || seconds * 1000 > maxWaitMs || wait === MAX_WAITS) throw error;
      await clock.sleep(seconds * 1000, { signal });
    }
  }
}

const FIRST_PAUSE_MS = 300;
const READ_ATTEMPTS = 7;

/** For calls that may be repeated, such as reading: temporary failures are retried too. Ends with the signal. */
export async function retryRepeatable<Result>(call: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { attempts = READ_ATTEMPTS } = options;
  for (let attempt = 1; ; attempt += 1) {
    options.signal.throwIfAborted();
    try {
      return await retryRateLimited(() => unlessAborted(options.signal, call()), options);
    } catch (error) {
      if (!isPassing(error) || attempt === attempts) throw error;
      await options.clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), { signal: options.signal });
    }
  }
}

const PASSING = new Set([
  ...['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'],
  // While a workspace moves to an organization, or a channel to another workspace.
  ...['team_added_to_org', 'org_login_required', 'external_channel_migrating'],
  // While the administrators withhold the organization's keys.
  'ekm_access_denied',
]);

/** Likely to be gone a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof webApi.WebAPIHTTPError) return error.statusCode >= 500;
  return error instanceof webApi.WebAPIRequestError || PASSING.has(codeOf(error) ?? '');
}

const REASONS = new Map([
  ['not_in_channel', 'the bot is not in that channel; /invite it there'],
  ['channel_not_found', 'the channel does not exist, or the bot cannot see it'],
  ['is_archived', 'the channel is archived'],
  ['restricted_action', 'the workspace does not let the bot write there'],
  ['restricted_action_read_only_channel', 'the workspace does not let the bot write there'],
  ['restricted_action_thread_only_channel', 'the channel accepts only replies in threads'],
  [
    'restricted_action_non_threadable_channel',
    'the channel accepts no replies in threads; channel_replies = "channel" answers mentions in the channel itself',
  ],
  ['restricted_action_thread_locked', 'the thread is locked'],
  ['thread_locked', 'the thread is locked'],
  ['messages_tab_disabled', 'the app accepts no direct messages; enable the Messages Tab in its App Home'],
  ['missing_scope', 'a scope is missing; `strata slack manifest` prints the required ones'],
  ['invalid_auth', 'the bot token is invalid'],
  ['token_revoked', 'the bot was removed from the workspace'],
  ['account_inactive', 'the bot was removed from the workspace'],
]);

/** An error that is not listed here may be new, and pass. `attempt`: of the post. */
export function refusedBy(error: unknown, attempt: number): StrataError {
  const known = REASONS.get(codeOf(error) ?? '');
  const reason = known ?? outageOf(error);
  const seconds = retryAfterOf(error);
  const final = isFinal(error) && (known !== undefined || attempt >= MAX_UNKNOWN_TRIES);
  const retryAfter = seconds === null ? {} : { retryAfterMs: seconds * 1000 };
  return new StrataError('POST_FAILED', { channel: 'Slack', reason, final, ...retryAfter }, { cause: error });
}

/** Slack processed the request and refused it. */
export function isFinal(error: unknown): boolean {
  return codeOf(error) !== null && retryAfterOf(error) === null && !isPassing(error) && !isOfToken(error);
}

/** For the server that takes uploads, which answers without JSON. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof webApi.WebAPIHTTPError && error.statusCode === TOO_LARGE;
}

const TOO_LARGE = 413;

/** The token is invalid, which says nothing about the request. */
export function isOfToken(error: unknown): boolean {
  return OF_TOKENS.has(codeOf(error) ?? '');
}

const OF_TOKENS = new Set(['invalid_auth', 'not_authed', 'token_expired', 'token_revoked', 'account_inactive']);
