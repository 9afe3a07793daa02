/** Yields to the event loop. Long work is done in slices, so that no reply waits for all of it. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const waiting: (() => void)[] = [];

/**
 * Yields until the event loop has a turn for this work alone. Use it for work that anyone may request many times at
 * once: after `yieldToEventLoop`, all of these requests could continue in the same turn.
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
