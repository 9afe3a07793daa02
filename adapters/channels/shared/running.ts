/** Work that goes on after its caller was answered. */
export interface Running {
  /** Returns the same promise, whose failure is the caller's to handle. */
  track<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when the work of this moment has ended, in whichever way. */
  drained(): Promise<void>;
}

export function createRunning(): Running {
  const running = new Set<Promise<unknown>>();
  return {
    track(work) {
      running.add(work);
      work.finally(() => running.delete(work)).catch(() => undefined);
      return work;
    },
    async drained() {
      await Promise.allSettled(running);
    },
  };
}
