import { startAwakeTimer } from './awake-timer.ts';

/** A signal for one piece of work. Disposing it frees its timer and its listener on the parent. */
export interface Limit extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops the clock until the result is disposed; then it starts over. */
  pause(): Disposable;
}

/**
 * Aborts with its parent, after `ms`, or on request. Work that ends in time leaves nothing behind, whereas
 * `AbortSignal.any` and `AbortSignal.timeout` stay in memory until they are collected or due.
 */
export function limitWork(parent: AbortSignal, options: { readonly ms?: number } = {}): Limit {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  const expire = () => controller.abort(new DOMException(`No answer within ${options.ms} ms`, 'TimeoutError'));
  let pauses = 0;
  let stop = (): void => undefined;
  const start = () => {
    const { ms } = options;
    if (ms !== undefined && pauses === 0) stop = startAwakeTimer({ ms, keepsAlive: false }, expire);
  };
  start();
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    pause() {
      pauses += 1;
      stop();
      return {
        [Symbol.dispose]() {
          pauses -= 1;
          start();
        },
      };
    },
    [Symbol.dispose]() {
      pauses += 1;
      stop();
      parent.removeEventListener('abort', follow);
    },
  };
}

/**
 * Rejects with the signal's reason, to race against work that may ignore the signal. The signal must end with the work.
 */
export function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
