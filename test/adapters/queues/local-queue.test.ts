import { describe, expect, it } from 'vitest';
import { createLocalQueue } from '../../../adapters/queues/local/index.ts';
import { silentLog } from '../../../src/util/log/silent-log.ts';
import { queueContract } from '../../contracts/queue.ts';

queueContract('local', {
  create: async () => ({
    queue: createLocalQueue({ log: silentLog, retryDelayMs: 20 }),
    dispose: async () => undefined,
  }),
});

describe('local queue', () => {
  it('waits longer after each rejection and resets on success', async () => {
    const pauses: number[] = [];
    let now = 0;
    const clock = {
      now: () => now,
      sleep: async (ms: number) => {
        pauses.push(ms);
        now += ms;
      },
    };
    const queue = createLocalQueue({ log: silentLog, clock, retryDelayMs: 1000 });
    let tries = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.process(
      async () => {
        tries += 1;
        if (tries === 10) queue.kick(1);
        if (tries === 12) resolve();
        if (tries !== 10 && tries !== 12) throw new Error('no');
      },
      { concurrency: 1, signal: new AbortController().signal },
    );
    queue.kick(1);
    await promise;
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 1000]);
    await queue.close({ deadlineMs: 10 });
  });

  it('reports a rejection with the name of the conversation', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const queue = createLocalQueue({ log: silentLog, onTrouble: resolve });
    queue.process(
      async () => {
        throw new Error('the disk is full');
      },
      { concurrency: 1, signal: new AbortController().signal },
    );
    queue.kick(42);
    expect(await promise).toBe('The job of conversation 42 failed once: the disk is full');
    expect(queue.stats()).toMatchObject({ driver: 'local', delayed: 1, trouble: await promise });
    await queue.close({ deadlineMs: 10 });
  });

  it('forgets delayed kicks when it closes', async () => {
    const queue = createLocalQueue({ log: silentLog });
    queue.kick(1, { delayMs: 60_000 });
    expect(queue.stats().delayed).toBe(1);
    await queue.close({ deadlineMs: 10 });
    expect(queue.stats().delayed).toBe(0);
  });
});
