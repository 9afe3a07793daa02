import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createSharedFlush } from '../../../adapters/stores/sqlite/shared-flush.ts';

const FLUSHES = 100_000;
const MAX_GROWTH_BYTES = 4_000_000;

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

it('keeps nothing of the flushes that have ended', async () => {
  const flush = createSharedFlush({ flush: async () => undefined, flushHere: () => undefined, isQuick: () => true });
  await flush.now();
  const before = heapBytes();
  for (let count = 0; count < FLUSHES; count += 1) await flush.now();
  expect(heapBytes() - before).toBeLessThan(MAX_GROWTH_BYTES);
  await flush.settled();
});
