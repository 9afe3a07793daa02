import type { Clock } from '../ports/clock.ts';
import { type Limit, limitWork } from '../util/async/limit.ts';

/** A time limit that pauses while other code runs. */
export interface OwnTime extends Pick<Limit, 'signal'>, Disposable {
  pause(): void;
  resume(): void;
}

/** Starts at once. Also aborts with its parent. */
export function limitOwnTime({
  clock,
  parent,
  ms,
}: {
  readonly clock: Clock;
  readonly parent: AbortSignal;
  readonly ms: number;
}): OwnTime {
  const limit = limitWork(parent);
  let leftMs = ms;
  let nap: { readonly wake: AbortController; readonly since: number } | null = null;
  let isOver = false;
  const pause = () => {
    if (nap === null) return;
    leftMs = Math.max(0, leftMs - (clock.now() - nap.since));
    nap.wake.abort(PAUSED);
    nap = null;
  };
  const resume = () => {
    pause();
    if (isOver) return;
    nap = { wake: new AbortController(), since: clock.now() };
    const expire = () => limit.abort(new DOMException(`No result within ${ms / 1000} seconds`, 'TimeoutError'));
    clock.sleep(leftMs, { signal: nap.wake.signal }).then(expire, () => undefined);
  };
  resume();
  return {
    signal: limit.signal,
    pause,
    resume,
    [Symbol.dispose]() {
      isOver = true;
      pause();
      limit[Symbol.dispose]();
    },
  };
}

/** Created once, because creating an error captures a stack. */
const PAUSED = new Error('The time limit is paused.');
