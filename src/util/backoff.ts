const BASE_MS = 2000;
const MAX_MS = 10 * 60_000;

/**
 * How long to wait after a failure: doubles each time, with up to a quarter of jitter, and never less than the provider
 * asks for.
 */
export function backoffMs({
  failures,
  chance,
  retryAfterMs,
}: {
  /** Consecutive failures, including this one. */
  readonly failures: number;
  /** 0 <= x < 1, so that work that failed at the same time is retried at different times. */
  readonly chance: number;
  /** What the provider asked for, if anything. */
  readonly retryAfterMs: number | null;
}): number {
  const doubled = Math.min(MAX_MS, BASE_MS * 2 ** Math.max(0, failures - 1));
  const jittered = Math.round(doubled * (1 - chance / 4));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_MS));
}
