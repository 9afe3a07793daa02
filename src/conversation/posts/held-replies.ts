import type { ConversationKey } from '../../domain/message.ts';
import type { CatchingUp } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import { isPaused } from '../../util/async/pause.ts';

/** A platform that does not respond delays an owed reply at most this long. */
const MAX_HOLD_MS = 60_000;

/**
 * Replies owed from an earlier run. They wait until the edits and deletions that happened during the downtime are
 * applied.
 */
export interface HeldReplies {
  hold(covers: (conversation: ConversationKey) => boolean): CatchingUp;
  /** Whether the reply waits. `onFree` is called with the conversation as soon as it no longer does. */
  holds(conversation: ConversationKey): boolean;
  /** Resolves when nothing of the conversation waits any more, or with the signal. */
  freed(conversation: ConversationKey, signal: AbortSignal): Promise<void>;
}

interface Hold {
  readonly covers: (conversation: ConversationKey) => boolean;
  readonly until: number;
  readonly applied: Set<ConversationKey>;
}

export function createHeldReplies(clock: Clock, onFree: (conversation: ConversationKey) => void): HeldReplies {
  const holds = new Set<Hold>();
  const waiting = new Set<ConversationKey>();
  const frees = new Map<ConversationKey, PromiseWithResolvers<void>>();
  const isHeld = (conversation: ConversationKey): boolean =>
    [...holds].some(
      ({ covers, until, applied }) =>
        isPaused(until, { now: clock.now(), maxMs: MAX_HOLD_MS }) && !applied.has(conversation) && covers(conversation),
    );
  const free = (conversation: ConversationKey): void => {
    if (isHeld(conversation)) return;
    frees.get(conversation)?.resolve();
    frees.delete(conversation);
    if (waiting.delete(conversation)) onFree(conversation);
  };
  return {
    hold(covers) {
      const hold: Hold = { covers, until: clock.now() + MAX_HOLD_MS, applied: new Set() };
      holds.add(hold);
      return {
        applied(conversation) {
          hold.applied.add(conversation);
          free(conversation);
        },
        end() {
          holds.delete(hold);
          for (const conversation of new Set([...waiting, ...frees.keys()])) free(conversation);
        },
      };
    },
    holds(conversation) {
      const isWaiting = isHeld(conversation);
      if (isWaiting) waiting.add(conversation);
      else waiting.delete(conversation);
      return isWaiting;
    },
    async freed(conversation, signal) {
      if (!isHeld(conversation)) return;
      const freed = frees.get(conversation) ?? Promise.withResolvers<void>();
      frees.set(conversation, freed);
      const over = new AbortController();
      const limit = clock.sleep(MAX_HOLD_MS, { signal: AbortSignal.any([over.signal, signal]) });
      await Promise.race([freed.promise, limit.catch(() => undefined)]);
      over.abort();
    },
  };
}
