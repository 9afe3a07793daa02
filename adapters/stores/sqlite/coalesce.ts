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
