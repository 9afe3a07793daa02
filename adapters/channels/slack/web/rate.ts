import type { Clock } from '../../../../src/adapter-kit.ts';
import { elapsedMs } from '../../shared/elapsed.ts';

/** Resolves when one more may start; rejects with the signal. First come, first served. */
export type Rate = (signal: AbortSignal) => Promise<void>;

/** Never lets more through within any period than allowed. */
export function createRate(
  clock: Clock,
  {
    most,
    spanMs,
  }: {
    /** How many may start within the period; the first ones at once. */
    readonly most: number;
    readonly spanMs: number;
  },
): Rate {
  const begun: number[] = [];
  let turn: Promise<void> = Promise.resolve();
  const wait = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    const oldest = begun.length < most ? undefined : begun[0];
    const leftMs = oldest === undefined ? 0 : spanMs - elapsedMs(clock, oldest);
    if (leftMs > 0) await clock.sleep(leftMs, { signal });
    if (oldest !== undefined) begun.shift();
    begun.push(clock.now());
  };
  return (signal) => {
    const own = turn.then(() => wait(signal));
    turn = own.catch(() => undefined);
    return own;
  };
}
