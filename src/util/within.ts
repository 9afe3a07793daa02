import type { Clock } from '../ports/clock.ts';

/**
 * The result of the work, or null if it takes longer than a person waits. The work continues, and its failure is
 * recorded.
 */
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
    // A failure after the answer is visible in the journal and in /status.
    work.catch(() => undefined);
  }
}
