import { coalesce } from '../sql/index.ts';
import type { Log } from './log.ts';

/** How long a write that can wait does so, for others that share its flush. */
const MAX_WAIT_MS = 2;

/** Flushes that cover everything that was committed before they were requested. */
export interface SharedFlush {
  /** For what somebody waits for: at once. */
  now(): Promise<void>;
  /** Joins the next one, which is requested within two milliseconds. */
  soon(): Promise<void>;
  /** Resolves when none is running or requested. Never rejects. */
  settled(): Promise<void>;
}

export function createSharedFlush(log: Pick<Log, 'flush' | 'flushHere' | 'isQuick'>): SharedFlush {
  const running = new Set<Promise<void>>();
  let joining: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  // Never two of a kind at once. Whoever asks before one starts shares it, and whoever is waiting joins it.
  const shared = (flush: () => Promise<void>) => {
    const once = coalesce(() => {
      clearTimeout(timer);
      const flushed = flush();
      joining?.resolve(flushed);
      joining = null;
      return flushed;
    });
    return () => {
      const flushed = once();
      running.add(flushed);
      const end = () => running.delete(flushed);
      flushed.then(end, end);
      return flushed;
    };
  };
  const elsewhere = shared(log.flush);
  const here = shared(async () => log.flushHere());
  return {
    now: () => (log.isQuick() ? here() : elsewhere()),
    soon() {
      if (joining === null) {
        joining = Promise.withResolvers();
        timer = setTimeout(elsewhere, MAX_WAIT_MS);
      }
      return joining.promise;
    },
    async settled() {
      await joining?.promise.catch(() => undefined);
      await Promise.allSettled(running);
    },
  };
}
