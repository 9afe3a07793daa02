import { DiscordAPIError } from 'discord.js';
import { z } from 'zod';
import { type Clock, describe, isStoreAway, type Log } from '../../../../src/adapter-kit.ts';

/** The pauses in between take twelve minutes, and the attempts add to them. */
const ATTEMPTS = 30;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Retries temporary failures of the store, the network or Discord. A failure of the store itself counts for no attempt:
 * the event is not to blame, and a disk may stay full for a night. `what` completes "could not be …".
 */
export async function withRetries<Result>(
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  let left = ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isAway = isStoreAway(error);
      if (!isAway) left -= 1;
      if (isFinal(error) || left === 0 || signal.aborted) throw error;
      // Of a store that is away, the bot itself reports the cause once a minute.
      if (!isAway || attempt === 1)
        log.error(`An event from Discord could not be ${what}; trying again`, { cause: describe(error), attempt });
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
      await clock.sleep(pauseMs, { signal }).catch(() => undefined);
    }
  }
}

/** Discord refused, or sent a response that cannot be understood. */
function isFinal(error: unknown): boolean {
  return error instanceof z.ZodError || isRefusal(error);
}

/** Discord processed the request and refused. A 401 concerns the token, not the request. */
export function isRefusal(error: unknown): boolean {
  return error instanceof DiscordAPIError && error.status < 500 && error.status !== 401;
}

/** Deleted or invisible. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof DiscordAPIError && (error.status === 403 || error.status === 404);
}

/** Certainly deleted, not only invisible. */
export function isDeleted(error: unknown): boolean {
  return error instanceof DiscordAPIError && (error.code === UNKNOWN_CHANNEL || error.code === UNKNOWN_MESSAGE);
}

/** Certainly deleted, or closed to the bot. Without Discord's own code, a refusal may concern anything. */
export function isClosedOrDeleted(error: unknown): boolean {
  return isDeleted(error) || (error instanceof DiscordAPIError && error.code === MISSING_ACCESS);
}

/** Without Discord's own code this may concern the route, or what the bot may see. */
export function isNotFound(error: unknown): boolean {
  return error instanceof DiscordAPIError && error.status === 404;
}

/** The bot is not in the server, or the server no longer exists. */
export function isNotIn(error: unknown): boolean {
  return error instanceof DiscordAPIError && (error.code === UNKNOWN_GUILD || error.code === MISSING_ACCESS);
}

const UNKNOWN_CHANNEL = 10003;
const UNKNOWN_GUILD = 10004;
const MISSING_ACCESS = 50001;
const UNKNOWN_MESSAGE = 10008;
