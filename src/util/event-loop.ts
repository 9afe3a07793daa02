/** Yields to the event loop. Long work is done in slices, so that no reply waits for all of it. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const waiting: (() => void)[] = [];

/**
 * Yields to the event loop until a turn of it is for this work alone. For work that anybody may ask for any number of
 * times at once: `yieldToEventLoop` would let all of it go on in the same turn.
 */
export function waitForOwnTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}
