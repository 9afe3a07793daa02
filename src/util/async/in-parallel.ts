import { yieldToEventLoop } from './event-loop.ts';

/** The results of the work on each item, in order: at most `limit` at once, with other work in between. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    // The lanes share the iterator, so each takes the next item.
    for (const [index, item] of waiting) {
      if (hasFailed) return;
      results[index] = await work(item);
      if (items.length > limit) await yieldToEventLoop();
    }
  };
  const lanes = Array.from({ length: limit }, lane);
  try {
    await Promise.all(lanes);
  } finally {
    hasFailed = true;
  }
  return results;
}
