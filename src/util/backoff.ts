const BASE_MS = 2000;
const MAX_MS = 10 * 60_000;

/** How long to wait after a failure: doubling, with up to a quarter of jitter, and never less than the provider asks. */
export function backoffMs({
  failures,
  chance,
  retryAfterMs,
}: {
  /** Failures in a row, this one included. */
  readonly failures: number;
  /** 0 <= x < 1: spreads those that failed together. */
  readonly chance: number;
  /** What the provider asked for, if it did. */
  readonly retryAfterMs: number | null;
}): number {
  const doubled = Math.min(MAX_MS, BASE_MS * 2 ** Math.max(0, failures - 1));
  const jittered = Math.round(doubled * (1 - chance / 4));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_MS));
}
