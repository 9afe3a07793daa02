/**
 * Lets all who ask for the same work share it. Who asks while it runs waits for one more run, because what he asks for
 * may lie where the present one has been already.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let following: Promise<void> | null = null;
  const start = () => {
    running = work().finally(() => {
      running = null;
    });
    return running;
  };
  const follow = (present: Promise<void>) =>
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
