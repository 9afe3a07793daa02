import { describe, type LogFields } from '../../../../src/adapter-kit.ts';
import { isPassing } from '../web/web.ts';
import type { CatchUpContext } from './catch-up-context.ts';

const QUICK_ATTEMPTS = 2;
/** If more fail at once, Slack itself fails, and the next one waits. */
const MAX_RETRIED = 4;

interface Reading<Context> {
  work(context: Context): Promise<void>;
  /** It is done, or has failed for good. Must not throw. */
  ended(): void;
}

export interface Readings<Context> {
  read(what: LogFields, reading: Reading<Context>): Promise<void>;
  /** Waits for what is tried again. Whether everything was read; rejects if the signal is aborted. */
  settled(): Promise<boolean>;
}

/** Reads one after the other. What fails temporarily is retried concurrently, so that it does not delay the rest. */
export function createReadings<Context extends CatchUpContext>(context: Context): Readings<Context> {
  const retried = new Set<Promise<void>>();
  let isWhole = true;
  const fail = (what: LogFields, error: unknown): void => {
    if (context.signal.aborted) throw error;
    isWhole = false;
    context.log.warn('Missed messages could not be read', { ...what, cause: describe(error) });
  };
  const retry = (what: LogFields, { work, ended }: Reading<Context>): Promise<void> => {
    const own = work(context)
      .catch((error: unknown) => fail(what, error))
      .finally(() => {
        retried.delete(own);
        ended();
      });
    // It rejects only once the signal is aborted, which `settled` checks.
    own.catch(() => undefined);
    retried.add(own);
    return own;
  };
  return {
    async read(what, reading) {
      try {
        await reading.work({ ...context, attempts: QUICK_ATTEMPTS });
      } catch (error) {
        if (isPassing(error) && !context.signal.aborted) {
          const own = retry(what, reading);
          if (retried.size > MAX_RETRIED) await own;
          return;
        }
        fail(what, error);
      }
      reading.ended();
    },
    async settled() {
      await Promise.allSettled(retried);
      context.signal.throwIfAborted();
      return isWhole;
    },
  };
}
