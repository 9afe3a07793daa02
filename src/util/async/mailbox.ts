/** Runs tasks one at a time, in order. A task that rejects is reported and does not affect the next one. */
export interface Mailbox {
  put(task: () => Promise<void>): void;
  /** Work that no task waits for. The mailbox is busy until it has ended. */
  accompany(work: Promise<void>): void;
  /** Work that does not make the mailbox busy. It only has to end before the mailbox is drained. */
  follow(work: Promise<void>): void;
  /** Resolves when all queued tasks, and those that they queued, have run, with the work that accompanies them. */
  drained(): Promise<void>;
  readonly busy: boolean;
}

export function createMailbox(options: {
  readonly onError: (error: unknown) => void;
  /** Called whenever the last task has ended. */
  readonly onIdle?: () => void;
}): Mailbox {
  let last: Promise<unknown> = Promise.resolve();
  let beside: Promise<unknown> = Promise.resolve();
  let followed: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const count = (work: Promise<void>) => {
    waiting += 1;
    return work.catch(options.onError).finally(() => {
      waiting -= 1;
      if (waiting === 0) options.onIdle?.();
    });
  };
  return {
    put(task) {
      last = count(last.then(task));
    },
    accompany(work) {
      // The results themselves would nest deeper with each work.
      beside = Promise.all([beside, count(work)]).then(() => undefined);
    },
    follow(work) {
      followed = Promise.all([followed, work.catch(options.onError)]).then(() => undefined);
    },
    async drained() {
      while (waiting > 0) await Promise.all([last, beside]);
      await followed;
    },
    get busy() {
      return waiting > 0;
    },
  };
}
