import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createWatchdog } from '../../../adapters/models/ai-sdk/calls/watchdog.ts';
import { stopFor } from '../../support/stopped.ts';

it('a stream has time left after its process was stopped', async () => {
  const watchdog = createWatchdog({ firstPartMs: 300, nextPartMs: 300 }, new AbortController().signal);
  stopFor(1_500);
  await sleep(1);
  expect(watchdog.signal.aborted).toBe(false);
  await expect.poll(() => watchdog.reason()).toMatchObject({ name: 'TimeoutError' });
  watchdog.end();
});
