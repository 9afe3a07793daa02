import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

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
