/** Yields to the event loop. Long work is done in slices, so that no reply waits for all of it. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
