import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { lockDirectory } from '../../../adapters/stores/sqlite/lock.ts';

/** Locks a directory at the same moment as another thread, as often as `arrived` has places, and counts successes. */
const counts = z.instanceof(Int32Array);
const { directory, arrived, locked } = z
  .object({ directory: z.string(), arrived: counts, locked: counts })
  .parse(workerData);

for (let round = 0; round < arrived.length; round++) {
  Atomics.add(arrived, round, 1);
  // Sleeping would let them arrive one after the other.
  while (Atomics.load(arrived, round) < 2);
  try {
    lockDirectory({ directory, file: `${directory}/strata.lock`, shared: false }).release();
    Atomics.add(locked, round, 1);
  } catch {
    // Refused.
  }
}
