import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createOrder } from '../../../src/hooks/in-order.ts';

it('keeps no result of a conversation that never pauses', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const inOrder = createOrder<string>();
  let underway: Promise<unknown> = Promise.resolve();
  const heapAfter = async (count: number): Promise<number> => {
    for (let done = 0; done < count; done += 1) {
      const { promise, resolve } = Promise.withResolvers<readonly number[]>();
      const next = inOrder('here', promise);
      // The one before is still underway.
      await underway;
      underway = next;
      resolve(Array.from({ length: 1000 }, () => 0));
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(100);
  // All results would take 40 MB.
  expect((await heapAfter(5000)) - before).toBeLessThan(10_000_000);
});
