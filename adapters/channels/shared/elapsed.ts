import type { Clock } from '../../../src/adapter-kit.ts';

/** Milliseconds since a moment. Infinite if the clock was set back to before it, so that no wait gets longer. */
export function elapsedMs(clock: Pick<Clock, 'now'>, at: number): number {
  const ms = clock.now() - at;
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}
