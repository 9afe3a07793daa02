import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';

const ROUNDS = 300;

it('admits one of two that lock together', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'strata-lock-'));
  const counts = () => new Int32Array(new SharedArrayBuffer(ROUNDS * Int32Array.BYTES_PER_ELEMENT));
  const workerData = { directory, arrived: counts(), locked: counts() };
  const workers = [1, 2].map(() => new Worker(join(import.meta.dirname, 'sqlite-lock.worker.ts'), { workerData }));
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  await rm(directory, { recursive: true });
  expect(workerData.locked).toHaveLength(ROUNDS);
  expect(workerData.locked).not.toContain(0);
});

describe('a file behind a link', () => {
  const isPosix = process.platform !== 'win32';

  it.runIf(isPosix)('is stored and locked where it is', async () => {
    const root = await mkdtemp(join(tmpdir(), 'strata-link-'));
    const [directory, volume] = [join(root, 'data'), join(root, 'volume')];
    await Promise.all([mkdir(directory), mkdir(volume)]);
    await symlink('../volume/strata.db', join(directory, 'strata.db'));
    for (const written of [1, 2]) {
      const storage = await createSqliteStorage({ directory });
      await storage.state.set('test', 'written', written);
      await expect(createSqliteStorage({ directory: volume })).rejects.toMatchObject({ code: 'STORE_LOCKED' });
      await storage.store.close();
    }
    const moved = await createSqliteStorage({ directory: volume });
    expect(await moved.state.get('test', 'written')).toBe(2);
    await moved.store.close();
    expect((await readdir(directory)).filter((name) => name !== 'strata.db')).toEqual([]);
    expect((await stat(join(volume, 'strata.db'))).mode & 0o777).toBe(0o600);
    await rm(root, { recursive: true });
  });
});
