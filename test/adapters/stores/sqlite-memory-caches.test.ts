import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { SIZED, sized, sizedLimitMs } from '../../support/size.ts';
import { createStoreFolder } from '../../support/store-folder.ts';
import { createCachesWorld, stepArbitrary } from './memory-caches.world.ts';

const LONG = { ...SIZED, timeout: sizedLimitMs(400_000) };

describe('what a process keeps of the memories', () => {
  // Shows: I9, I10
  it('equals what a process reads that has just started', LONG, async () => {
    const histories = fc.array(stepArbitrary, { minLength: 5, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const directory = await createStoreFolder('caches');
        const open = () => createSqliteStorage({ directory, shared: true });
        const processes = [await open(), await open()] as const;
        try {
          const world = createCachesWorld(directory, processes, open);
          await world.begin();
          for (const step of steps) {
            await world.act(step);
            await world.check();
          }
        } finally {
          for (const { store } of processes) await store.close();
          await rm(directory, { recursive: true, force: true });
        }
      }),
      { numRuns: sized({ small: 12, full: 100 }) },
    );
  });
});
