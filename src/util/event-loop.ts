/** Lets all that waits have its turn. Long work is done in slices, so that no reply stands behind the whole of it. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
