import { type Clock, MINUTE_MS } from '../../../src/adapter-kit.ts';
import { elapsedMs } from './elapsed.ts';

/** Returns false after so many calls, until a minute has passed. */
export function createAllowance(clock: Clock, perMinute: number): () => boolean {
  let [startedAt, left] = [Number.NEGATIVE_INFINITY, 0];
  return () => {
    if (elapsedMs(clock, startedAt) >= MINUTE_MS) [startedAt, left] = [clock.now(), perMinute];
    left -= 1;
    return left >= 0;
  };
}
