/**
 * Whether a pause until a time is on. One that would last longer than `maxMs` from now began before the clock was set
 * back, and is over: nothing waits for the clock to return.
 */
export function isPaused(
  untilAt: number | null,
  { now, maxMs }: { readonly now: number; readonly maxMs: number },
): untilAt is number {
  return untilAt !== null && untilAt > now && untilAt <= now + maxMs;
}
