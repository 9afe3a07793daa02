import type { Clock } from '../../../src/adapter-kit.ts';

/** What the work gives, or null when it fails or takes longer. */
export async function within<Value>(clock: Clock, limitMs: number, work: Promise<Value>): Promise<Value | null> {
  const done = new AbortController();
  const late = clock.sleep(limitMs, { signal: done.signal });
  try {
    return await Promise.race([work, late.then(() => null)]);
  } catch {
    return null;
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}

/** What the work gives, or a rejection once the signal is aborted. The work itself goes on unheard. */
export async function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  work.catch(() => undefined);
  signal.throwIfAborted();
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
