import type { Clock } from '../../../src/adapter-kit.ts';

/** Older requests are refused by their age; a minute more for clocks that differ. */
const KEPT_MS = 360_000;

/**
 * Whether a signed request comes for the first time. Events need none of this: the store knows what it has, and what it
 * has not it wants again. A command would be done twice.
 */
export function createReplays(clock: Clock): (signature: string) => boolean {
  const seen = new Map<string, number>();
  return (signature) => {
    const now = clock.now();
    for (const [old, at] of seen) {
      if (now - at <= KEPT_MS) break;
      seen.delete(old);
    }
    if (seen.has(signature)) return false;
    seen.set(signature, now);
    return true;
  };
}
