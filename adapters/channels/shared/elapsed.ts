import type { Clock } from '../../../src/adapter-kit.ts';

/** Milliseconds since a moment. Infinite if the clock has been set back behind it: nothing waits for it to return. */
export function elapsedMs(clock: Pick<Clock, 'now'>, at: number): number {
  const ms = clock.now() - at;
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}
