/** Runs tasks one at a time, in order. A task that rejects is reported and does not affect the next one. */
export interface Mailbox {
  put(task: () => Promise<void>): void;
  /** Resolves when all queued tasks, and those that they queued, have run. */
  drained(): Promise<void>;
  readonly busy: boolean;
}

export function createMailbox(options: {
  readonly onError: (error: unknown) => void;
  /** Called whenever the last task has ended. */
  readonly onIdle?: () => void;
}): Mailbox {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return {
    put(task) {
      waiting += 1;
      last = last
        .then(task)
        .catch(options.onError)
        .finally(() => {
          waiting -= 1;
          if (waiting === 0) options.onIdle?.();
        });
    },
    async drained() {
      while (waiting > 0) await last;
    },
    get busy() {
      return waiting > 0;
    },
  };
}
