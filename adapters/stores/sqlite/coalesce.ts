/**
 * Lets all callers of the same work share it. A call that comes while it runs waits for one more run, because what it
 * asks for may lie where the present run has been already.
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
    if (running === null) return start();
    following ??= follow(running);
    return following;
  };
}
