import { placeOf } from '../../domain/key.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { Clock } from '../../ports/clock.ts';
import { withinTime } from '../../util/async/within.ts';

/** How long a change waits for posts that are on their way; a rate limit may hold them up for longer. */
const MAX_WAIT_MS = 5_000;

/**
 * Keeps attempts to post apart from changes of a place that withdraw unsent replies. Withdrawing a post that is on its
 * way would show its reply twice.
 */
export interface PostGate {
  /** Runs one attempt, after the changes that came before it. `waited`: there were some. */
  attempt<Result>(conversation: ConversationKey, work: (waited: boolean) => Promise<Result>): Promise<Result>;
  /** Runs a change once the attempts in its place have ended. Later attempts wait for it. */
  change(conversation: ConversationKey, work: () => Promise<void>): Promise<void>;
}

export function createPostGate(clock: Clock): PostGate {
  const underway = new Map<string, Set<Promise<unknown>>>();
  const changes = new Map<string, Promise<void>>();
  const settled = async (place: string): Promise<void> => {
    const attempts = [...(underway.get(place) ?? [])];
    if (attempts.length > 0) await withinTime(Promise.allSettled(attempts), { clock, ms: MAX_WAIT_MS });
  };
  return {
    async attempt(conversation, work) {
      const place = placeOf(conversation);
      let waited = false;
      for (let change = changes.get(place); change !== undefined; change = changes.get(place)) {
        waited = true;
        await change;
      }
      const attempt = work(waited);
      const all = underway.get(place) ?? new Set();
      underway.set(place, all.add(attempt));
      try {
        return await attempt;
      } finally {
        all.delete(attempt);
        if (all.size === 0 && underway.get(place) === all) underway.delete(place);
      }
    },
    async change(conversation, work) {
      const place = placeOf(conversation);
      const before = changes.get(place) ?? Promise.resolve();
      const own = before.then(() => settled(place)).then(work);
      const ended = own.catch(() => undefined);
      changes.set(place, ended);
      try {
        await own;
      } finally {
        if (changes.get(place) === ended) changes.delete(place);
      }
    },
  };
}
