import { type Clock, DAY_MS } from '../../../../src/adapter-kit.ts';

/**
 * The library rejects requests that are five minutes old, and `http-guard.ts` those from five minutes ahead. The library
 * counts whole seconds, so a request is valid for up to a second more.
 */
const KEPT_MS = 601_000;
/** A request from when the clock was ahead by more is not valid any more, and must not keep all later ones here. */
const MAX_AHEAD_MS = DAY_MS;

/** The property of a request that is the same whenever it arrives: its signature, or the id of its envelope. */
export const DELIVERY = 'delivery';

export interface Replays {
  /** Whether a request arrives for the first time. */
  isNew(delivery: string): boolean;
  /** It was not acknowledged, so Slack may send it again. */
  forget(delivery: string): void;
}

/** Requests that were received. Events do not need this, because the store recognises repeated ones; a command would run twice. */
export function createReplays(clock: Clock): Replays {
  const seen = new Map<string, number>();
  return {
    isNew(delivery) {
      const now = clock.now();
      for (const [old, at] of seen) {
        const ageMs = now - at;
        if (ageMs <= KEPT_MS && ageMs > -MAX_AHEAD_MS) break;
        seen.delete(old);
      }
      if (seen.has(delivery)) return false;
      seen.set(delivery, now);
      return true;
    },
    forget: (delivery) => void seen.delete(delivery),
  };
}
