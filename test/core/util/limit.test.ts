import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { limitWork } from '../../../src/util/async/limit.ts';
import { stopFor } from '../../support/stopped.ts';

it('work has time left after its process was stopped', async () => {
  using limit = limitWork(new AbortController().signal, { ms: 300 });
  stopFor(1_500);
  await sleep(100);
  expect(limit.signal.aborted).toBe(false);
  await sleep(400);
  expect(limit.signal.aborted).toBe(true);
});
