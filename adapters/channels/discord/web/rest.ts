import {
  DiscordAPIError,
  type RateLimitData,
  RateLimitError,
  REST,
  RESTEvents,
  type RESTOptions,
  Routes,
} from 'discord.js';
import { z } from 'zod';
import { describe, HOUR_MS, type Log, StrataError } from '../../../../src/adapter-kit.ts';
import { MAX_UNKNOWN_TRIES } from '../../shared/post-tries.ts';
import { API_URL, type BotSettings } from '../settings.ts';
import { makeRequest } from './request.ts';

/** The part of Discord's REST interface that is used. Rate limits are handled per bucket underneath. */
export type Rest = Pick<REST, 'get' | 'post' | 'put' | 'patch' | 'delete'>;

const TIME_LIMIT_MS = 15_000;
const RETRIES = 3;

type Options = Pick<RESTOptions, 'api' | 'version' | 'timeout' | 'retries' | 'makeRequest'>;

/** Its inferred type would name a package of the library, which a compiler finds only in some layouts of node_modules. */
export function restOptionsOf({ rest_url: url }: Pick<BotSettings, 'rest_url'>): Options {
  return {
    api: url === '' ? API_URL : url.replace(/\/$/, ''),
    version: '10',
    timeout: TIME_LIMIT_MS,
    retries: RETRIES,
    makeRequest,
  };
}

/**
 * Its own client, separate from the gateway's, so that posting continues while and after the gateway closes. Waits for
 * the end of any rate limit, unless it lasts longer than `maxWaitMs`, or keeps a message from being posted or changed for
 * more than a few seconds: then it throws a `RateLimitError`.
 */
export function createRest(
  settings: BotSettings,
  log: Log,
  { maxWaitMs = Number.POSITIVE_INFINITY }: { readonly maxWaitMs?: number } = {},
): Rest {
  const rejectOnRateLimit = (limit: RateLimitData) =>
    limit.timeToReset > Math.min(maxWaitMs, holdsText(limit) ? MAX_TEXT_WAIT_MS : Number.POSITIVE_INFINITY);
  const library = new REST({ ...restOptionsOf(settings), rejectOnRateLimit }).setToken(settings.token);
  const rest = withOwnSignals(withLastingToken(library));
  rest.on(RESTEvents.RateLimited, (limit) => {
    const { route, timeToReset, global } = limit;
    const level = timeToReset < LONG_WAIT_MS || holdsText(limit) ? 'debug' : 'warn';
    log[level]('Discord returned a rate limit', { route, waitMs: timeToReset, global });
  });
  return rest;
}

/** Longer waits are left to the outbox, because the reply may be deleted during the wait. */
const MAX_TEXT_WAIT_MS = 5_000;

/** Whether such requests post or change messages. */
function holdsText({ method, route }: Pick<RateLimitData, 'method' | 'route'>): boolean {
  return WRITING.has(method) && MESSAGES.test(route);
}

const WRITING = new Set(['POST', 'PATCH']);
const MESSAGES = /^\/channels\/:id\/messages(\/:id)?$/;

/** Messages may be missed for that long. The outbox says itself why it waits. */
const LONG_WAIT_MS = 20_000;

/**
 * The library drops its token after a single 401 and sends nothing any more. A token that is invalid for good closes the
 * gateway, which is reported.
 */
export function withLastingToken(rest: REST): REST {
  const setToken = rest.setToken.bind(rest);
  rest.setToken = (token: string | null) => (token === null ? rest : setToken(token));
  return rest;
}

/** The library leaves a listener on the signal of each request, and the bot's own signals last for months. */
function withOwnSignals(rest: REST): REST {
  const request = rest.request.bind(rest);
  rest.request = async (options) => {
    const { signal } = options;
    if (!signal) return await request(options);
    const own = new AbortController();
    const end = () => own.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    try {
      return await request({ ...options, signal: own.signal });
    } finally {
      signal.removeEventListener('abort', end);
    }
  };
  return rest;
}

const REASONS: ReadonlyMap<number, string> = new Map([
  [10003, 'the channel no longer exists'],
  [40005, 'the file is too large for Discord'],
  [50045, 'the file is too large for Discord'],
  [50001, 'the bot cannot see the channel; give it the permission View Channel'],
  [50007, 'the person does not accept direct messages from the bot'],
  [50278, 'the person and the bot share no server any more, so Discord accepts no direct message'],
  [
    50013,
    'the bot lacks a permission there or was timed out; it needs Send Messages, in threads Send Messages in Threads, for files Attach Files',
  ],
  [50083, 'the thread is locked'],
  [160005, 'the thread is locked'],
]);

/** Discord's error as one sentence for people. One without a code may pass. `attempt`: of the post. */
export function refusedBy(error: unknown, attempt: number): StrataError {
  if (error instanceof RateLimitError) {
    const reason = 'Discord returned a rate limit for this channel';
    const retryAfterMs = Math.min(error.timeToReset, HOUR_MS);
    return new StrataError('POST_FAILED', { channel: 'Discord', reason, final: false, retryAfterMs }, { cause: error });
  }
  const code = codeOf(error);
  const reason = (code === null ? undefined : REASONS.get(code)) ?? describe(error);
  const final = REFUSALS.has(statusOf(error) ?? 0) && (Boolean(code) || attempt >= MAX_UNKNOWN_TRIES);
  return new StrataError('POST_FAILED', { channel: 'Discord', reason, final }, { cause: error });
}

/** Discord processed the request and refused. An invalid token says nothing about the post. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404, 413]);

function codeOf(error: unknown): number | null {
  return error instanceof DiscordAPIError && typeof error.code === 'number' ? error.code : null;
}

export function statusOf(error: unknown): number | null {
  return error instanceof DiscordAPIError ? error.status : null;
}

const applicationSchema = z.object({
  id: z.string(),
  flags: z.number().catch(0),
  owner: z.object({ id: z.string() }).nullish().catch(null),
  team: z
    .object({
      members: z.array(
        z.object({ membership_state: z.number(), role: z.string().nullish(), user: z.object({ id: z.string() }) }),
      ),
    })
    .nullish()
    .catch(null),
});

export interface Application {
  readonly id: string;
  readonly flags: number;
  /** The owner, or those members of the owning team who may change something. */
  readonly ownerIds: readonly string[];
}

/** Without people who have not accepted their invitation, and read-only members. */
function runsIt({ membership_state: state, role }: { membership_state: number; role?: string | null | undefined }) {
  return state === ACCEPTED && role !== 'read_only';
}

const ACCEPTED = 2;

export async function readApplication(rest: Rest): Promise<Application> {
  const { id, flags, owner, team } = applicationSchema.parse(await rest.get(Routes.currentApplication()));
  const members = team?.members.filter(runsIt).map(({ user }) => user.id) ?? [];
  return { id, flags, ownerIds: members.length > 0 ? members : owner ? [owner.id] : [] };
}
