import { type Clock, StrataError } from '../../../../src/adapter-kit.ts';
import { createRate } from '../rate.ts';
import { retryAfterOf, withRetries } from '../web.ts';
import { within } from '../within.ts';

/** Slack takes one message a second and channel, and some hundreds a minute and workspace. */
const CHANNEL_PAUSE_MS = 1_050;
const WORKSPACE = { most: 20, spanMs: 5_000 };
/** A post whose answer is late holds up the next one in its channel no longer than this. */
const MAX_TURN_MS = 3_000;

/** Longer waits belong to the outbox, since the reply may be deleted during the wait. */
export const MAX_WAIT_MS = 5_000;

/**
 * Lets whatever people see as a message out one after the other in each channel, at the rate that Slack takes, and none
 * while Slack asks to wait. Tries again after a short wait.
 */
export type PostRate = <Result>(
  place: { readonly channel: string; readonly signal: AbortSignal },
  post: () => Promise<Result>,
) => Promise<Result>;

export function createPostRate(clock: Clock): PostRate {
  const workspace = createRate(clock, WORKSPACE);
  const ends = new Map<string, Promise<void>>();
  const freeAt = new Map<string, number>();
  const hold = (channel: string, ms: number): void => {
    freeAt.set(channel, Math.max(freeAt.get(channel) ?? 0, clock.now() + ms));
  };
  const waitFor = async (channel: string, signal: AbortSignal): Promise<void> => {
    await workspace(signal);
    const leftMs = (freeAt.get(channel) ?? 0) - clock.now();
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
    withRetries(() => inTurn(place, post), { clock, signal: place.signal, maxWaitMs: MAX_WAIT_MS });
}

function waiting(retryAfterMs: number): StrataError {
  const reason = 'Slack returned a rate limit for this channel';
  return new StrataError('POST_FAILED', { channel: 'Slack', reason, final: false, retryAfterMs });
}
