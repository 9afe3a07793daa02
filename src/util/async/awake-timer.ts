/** A timer fires this late only if the process was stopped, or its computer suspended. */
const LATE_MS = 1000;

/** How long an awake timer runs. */
export interface AwakeTimerOptions {
  readonly ms: number;
  /** Whether the process goes on until the timer has fired. */
  readonly keepsAlive: boolean;
}

/**
 * Calls `expire` after `ms`. If the process was stopped meanwhile, what others sent it still has to be read, so as much
 * time as it was stopped is added, at most `ms` for each time. Returns a function that ends the timer.
 */
export function startAwakeTimer({ ms, keepsAlive }: AwakeTimerOptions, expire: () => void): () => void {
  let timer: NodeJS.Timeout;
  const start = (restMs: number): void => {
    const dueAt = performance.now() + restMs;
    const fire = (): void => {
      const lateMs = performance.now() - dueAt;
      if (lateMs < LATE_MS) expire();
      else start(Math.min(ms, lateMs));
    };
    timer = setTimeout(fire, restMs);
    if (!keepsAlive) timer.unref();
  };
  start(ms);
  return () => clearTimeout(timer);
}
