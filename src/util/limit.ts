/** A signal for one piece of work. Letting it go frees what it holds: its timer, and its place with the parent. */
export interface Limit extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

/**
 * Aborts with its parent, after `ms`, or on request. Of work that ends in time nothing stays behind, where
 * `AbortSignal.any` and `AbortSignal.timeout` would be remembered until they are collected or due.
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

/** Rejects with the signal's reason: raced against work that may not heed it. For a signal that ends with the work. */
export function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
