import { HOUR_MS, MINUTE_MS } from '../time/time.ts';

const BASE_MS = 2000;
const MAX_MS = 10 * MINUTE_MS;
/** After so many failures, most of an hour, work whose attempts cost money waits longer. */
const MANY_FAILURES = 12;
const MAX_COSTLY_MS = HOUR_MS;

/**
 * How long to wait after a failure: doubles each time, with up to a quarter of jitter, and never less than the provider
 * asks for.
 */
export function backoffMs({
  failures,
  chance,
  retryAfterMs,
  isCostly = false,
}: {
  /** Consecutive failures, including this one. */
  readonly failures: number;
  /** 0 <= x < 1, so that work that failed at the same time is retried at different times. */
  readonly chance: number;
  /** What the provider asked for, if anything. */
  readonly retryAfterMs: number | null;
  /** Each attempt is paid for, and nothing shows that the next one will end differently. Default false. */
  readonly isCostly?: boolean;
}): number {
  const mostMs = isCostly && failures > MANY_FAILURES ? MAX_COSTLY_MS : MAX_MS;
  const doubled = Math.min(mostMs, BASE_MS * 2 ** Math.max(0, failures - 1));
  const jittered = Math.round(doubled * (1 - chance / 4));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_MS));
}
