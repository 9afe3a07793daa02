import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the promise resolved in time. The timer keeps the process alive, because somebody waits for the answer. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
