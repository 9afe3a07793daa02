import { type Clock, withinTime } from '../../../src/adapter-kit.ts';

/** The result of the work, or null if it fails or takes longer. */
export async function within<Value>(clock: Clock, limitMs: number, work: Promise<Value>): Promise<Value | null> {
  const result = work.catch(() => null);
  return await withinTime(result, { clock, ms: limitMs });
}

/**
 * The result of the work, or a rejection once the signal aborts. The work itself continues, and its result is ignored.
 */
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
