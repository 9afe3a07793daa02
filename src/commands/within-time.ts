import type { Clock } from '../ports/clock.ts';

/** What the work gives, or null when it takes longer than a person waits. The work goes on, and its failure is not lost. */
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
    // What fails after the answer was given is in the journal and in /status.
    work.catch(() => undefined);
  }
}
