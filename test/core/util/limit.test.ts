import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { limitWork } from '../../../src/util/async/limit.ts';
import { stopFor } from '../../support/stopped.ts';

const { signal } = new AbortController();

it('work has time left after its process was stopped', async () => {
  using limit = limitWork(signal, { ms: 300 });
  stopFor(1_500);
  await sleep(1);
  expect(limit.signal.aborted).toBe(false);
  await expect.poll(() => limit.signal.aborted).toBe(true);
});

it('the shorter of two limits ends first after a stop', async () => {
  using inner = limitWork(signal, { ms: 300 });
  using outer = limitWork(signal, { ms: 1_300 });
  const ended: string[] = [];
  for (const [name, limit] of Object.entries({ inner, outer })) {
    limit.signal.addEventListener('abort', () => ended.push(name));
  }
  stopFor(1_500);
  await expect.poll(() => ended).toEqual(['inner', 'outer']);
});
