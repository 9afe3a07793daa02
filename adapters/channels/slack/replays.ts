import type { Clock } from '../../../src/adapter-kit.ts';

/** Older requests are rejected by their age; one minute more for clock differences. */
const KEPT_MS = 360_000;

/**
 * Whether a signed request arrives for the first time. Events do not need this, because the store recognises repeated
 * ones; a command would run twice.
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
