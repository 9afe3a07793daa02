import type { Clock } from '../../../src/adapter-kit.ts';

/**
 * The library rejects requests that are five minutes old, and `http-guard.ts` those from five minutes ahead. The library
 * counts whole seconds, so a request is valid for up to a second more.
 */
const KEPT_MS = 601_000;

/** The property of a request that is the same whenever it arrives: its signature, or the id of its envelope. */
export const DELIVERY = 'delivery';

/**
 * Whether a request arrives for the first time. Events do not need this, because the store recognises repeated ones; a
 * command would run twice.
 */
export function createReplays(clock: Clock): (delivery: string) => boolean {
  const seen = new Map<string, number>();
  return (delivery) => {
    const now = clock.now();
    for (const [old, at] of seen) {
      if (now - at <= KEPT_MS) break;
      seen.delete(old);
    }
    if (seen.has(delivery)) return false;
    seen.set(delivery, now);
    return true;
  };
}
