import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';

/** The result of the work, or null if it takes longer. The work goes on then, and its failure has no effect. */
export async function withinTime<Result>(
  work: Promise<Result>,
  options: { readonly clock: Clock; readonly ms: number },
): Promise<Result | null> {
  const over = new AbortController();
  const late = options.clock.sleep(options.ms, { signal: over.signal }).then(
    () => null,
    () => null,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

/**
 * Whether the work ends in time. Rejects if the work rejects. The timer is real and keeps the process alive, because
 * someone waits for the answer.
 */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(ms, false, { signal: over.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    over.abort();
  }
}
