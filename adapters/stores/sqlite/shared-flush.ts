import { coalesce } from './coalesce.ts';
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
  // On other threads, never two at once.
  const elsewhere = coalesce(log.flush);
  // Writes that were committed together ask for it together.
  const here = coalesce(async () => log.flushHere());
  const running = new Set<Promise<void>>();
  let joining: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const start = (flush: () => Promise<void>) => {
    clearTimeout(timer);
    const flushed = flush();
    running.add(flushed);
    const end = () => running.delete(flushed);
    flushed.then(end, end);
    joining?.resolve(flushed);
    joining = null;
    return flushed;
  };
  return {
    now: () => start(log.isQuick() ? here : elsewhere),
    soon() {
      if (joining === null) {
        joining = Promise.withResolvers();
        timer = setTimeout(start, MAX_WAIT_MS, elsewhere);
      }
      return joining.promise;
    },
    async settled() {
      await joining?.promise.catch(() => undefined);
      await Promise.allSettled(running);
    },
  };
}
