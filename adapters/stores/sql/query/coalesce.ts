/**
 * Lets concurrent callers share a run of the same work. Calls of the same moment share the run that they start; a call
 * during a run waits for the next one, because the current one may not cover its request.
 */
export function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let next: Promise<Result> | null = null;
  /** Never rejects. */
  let last: Promise<unknown> = Promise.resolve();
  const start = () => {
    next = null;
    const run = work();
    last = run.catch(() => undefined);
    return run;
  };
  return () => {
    next ??= last.then(start);
    return next;
  };
}

/** A call during a run returns at once, without another run. */
export function skipWhileRunning(work: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
    }
  };
}
