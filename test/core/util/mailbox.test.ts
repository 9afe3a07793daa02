import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createMailbox } from '../../../src/util/async/mailbox.ts';

it('keeps nothing of the work that has ended', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const box = createMailbox({ onError: (error) => expect.fail(String(error)) });
  const work: () => void = () => Array.from({ length: 1000 }, () => 0);
  const heapAfter = async (count: number): Promise<number> => {
    for (let done = 0; done < count; done += 1) {
      box.accompany(Promise.resolve().then(work));
      box.follow(Promise.resolve().then(work));
      box.put(() => Promise.resolve().then(work));
      await box.drained();
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(100);
  // All results would take 80 MB.
  expect((await heapAfter(10_000)) - before).toBeLessThan(20_000_000);
});
