/** The time is counted in slices of this length. */
const SLICE_MS = 500;
/** A timer fires this late only if the process was stopped, or its computer suspended. */
const LATE_MS = 500;

/** How long an awake timer runs. */
export interface AwakeTimerOptions {
  readonly ms: number;
  /** Whether the process goes on until the timer has fired. */
  readonly keepsAlive: boolean;
}

/**
 * Calls `expire` once the process has run for `ms`. Counts time in slices of half a second, and repeats a slice during
 * which the process was stopped, so that it can still read what has arrived, and a shorter timer still fires before a
 * longer one. Repeats at most `ms` in total. Returns a function that ends the timer.
 */
export function startAwakeTimer({ ms, keepsAlive }: AwakeTimerOptions, expire: () => void): () => void {
  let timer: NodeJS.Timeout;
  const run = (restMs: number, spareMs: number): void => {
    const sliceMs = Math.min(restMs, SLICE_MS);
    const dueAt = performance.now() + sliceMs;
    const fire = (): void => {
      const isLate = spareMs > 0 && performance.now() - dueAt >= LATE_MS;
      if (isLate) run(restMs, spareMs - sliceMs);
      else if (restMs > sliceMs) run(restMs - sliceMs, spareMs);
      else expire();
    };
    timer = setTimeout(fire, sliceMs);
    if (!keepsAlive) timer.unref();
  };
  run(ms, ms);
  return () => clearTimeout(timer);
}
