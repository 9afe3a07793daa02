/**
 * Lets concurrent callers share a run of the same work. A call during a run waits for one more run, because the current
 * one may already have passed what it asks for.
 */
export function coalesce<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | null = null;
  let following: Promise<Result> | null = null;
  const start = () => {
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  const follow = (present: Promise<Result>) =>
    present
      .catch(() => undefined)
      .then(() => {
        following = null;
        return start();
      });
  return () => {
    // `following` may have yet to start, right after a run.
    if (running === null) return following ?? start();
    following ??= follow(running);
    return following;
  };
}
