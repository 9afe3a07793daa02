import { type Clock, createRecentMap, StrataError } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';
import { within } from '../../shared/within.ts';
import { createRate } from '../web/rate.ts';
import { retryAfterOf, retryRateLimited } from '../web/web.ts';

/** Slack accepts one message per second and channel, and some hundreds per minute and workspace. */
const CHANNEL_PAUSE_MS = 1_050;
const WORKSPACE = { most: 20, spanMs: 5_000 };
/** How long a post waits for the response to the previous post in its channel. */
const MAX_TURN_MS = 3_000;

/** Longer waits are left to the outbox, because the reply may be deleted during the wait. */
export const MAX_WAIT_MS = 5_000;

/**
 * Sends visible messages one at a time in each channel, at the rate that Slack accepts, and none while Slack asks to
 * wait. Retries after a short wait.
 */
export type PostRate = <Result>(
  place: { readonly channel: string; readonly signal: AbortSignal },
  post: () => Promise<Result>,
) => Promise<Result>;

/** A channel gets no message for `ms` after `at`. */
interface Hold {
  readonly at: number;
  readonly ms: number;
}

/** More channels than can get a message within an hour, which is the longest pause. */
const MAX_HOLDS = 20_000;

export function createPostRate(clock: Clock): PostRate {
  const workspace = createRate(clock, WORKSPACE);
  const ends = new Map<string, Promise<void>>();
  // An earlier process may have posted until just now.
  const opened: Hold = { at: clock.now(), ms: CHANNEL_PAUSE_MS };
  const holds = createRecentMap<string, Hold>(MAX_HOLDS);
  const leftOf = (channel: string): number => {
    const { at, ms } = holds.get(channel) ?? opened;
    return ms - elapsedMs(clock, at);
  };
  const hold = (channel: string, ms: number): void => {
    holds.set(channel, { at: clock.now(), ms: Math.max(leftOf(channel), ms) });
  };
  const waitFor = async (channel: string, signal: AbortSignal): Promise<void> => {
    await workspace(signal);
    const leftMs = leftOf(channel);
    if (leftMs > MAX_WAIT_MS) throw waiting(leftMs);
    if (leftMs > 0) await clock.sleep(leftMs, { signal });
  };
  const inTurn: PostRate = async ({ channel, signal }, post) => {
    const turn = Promise.withResolvers<void>();
    const before = ends.get(channel);
    ends.set(channel, turn.promise);
    try {
      await before;
      await waitFor(channel, signal);
      const sent = post();
      sent.catch((error: unknown) => hold(channel, (retryAfterOf(error) ?? 0) * 1000));
      const ended = sent.then(
        () => hold(channel, CHANNEL_PAUSE_MS),
        () => hold(channel, CHANNEL_PAUSE_MS),
      );
      within(clock, MAX_TURN_MS, ended).then(() => turn.resolve(), undefined);
      return await sent;
    } catch (error) {
      turn.resolve();
      throw error;
    } finally {
      turn.promise.then(() => {
        if (ends.get(channel) === turn.promise) ends.delete(channel);
      }, undefined);
    }
  };
  return (place, post) =>
    retryRateLimited(() => inTurn(place, post), { clock, signal: place.signal, maxWaitMs: MAX_WAIT_MS });
}

function waiting(retryAfterMs: number): StrataError {
  const reason = 'Slack returned a rate limit for this channel';
  return new StrataError('POST_FAILED', { channel: 'Slack', reason, final: false, retryAfterMs });
}
