/** A signal for one piece of work. Disposing it frees its timer and its listener on the parent. */
export interface Limit extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/**
 * Aborts with its parent, after `ms`, or on request. Work that ends in time leaves nothing behind, whereas
 * `AbortSignal.any` and `AbortSignal.timeout` stay in memory until they are collected or due.
 */
export function limitWork(parent: AbortSignal, options: { readonly ms?: number } = {}): Limit {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  const expire = () => controller.abort(new DOMException(`No answer within ${options.ms} ms`, 'TimeoutError'));
  const timer = options.ms === undefined ? undefined : setTimeout(expire, options.ms);
  timer?.unref();
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    [Symbol.dispose]() {
      clearTimeout(timer);
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
