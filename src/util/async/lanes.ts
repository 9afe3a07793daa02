/** Runs work in order within each lane, and lanes concurrently. Failed work does not hold up what comes after it. */
export interface Lanes {
  /** Starts when all earlier work in these lanes has ended. Settles as the work does. */
  run<Result>(names: readonly string[], work: () => Promise<Result>): Promise<Result>;
  /** Resolves when all work so far has ended. Never rejects. */
  drained(): Promise<void>;
}

/**
 * Creates lanes without any work.
 *
 * @example
 * const lanes = createLanes();
 * await lanes.run(['room 1'], async () => console.log('first'));
 */
export function createLanes(): Lanes {
  const ends = new Map<string, Promise<unknown>>();
  return {
    run(names, work) {
      const result = Promise.all(names.map((name) => ends.get(name))).then(work);
      const end = Promise.allSettled([result]).then(() => {
        for (const name of names) if (ends.get(name) === end) ends.delete(name);
      });
      for (const name of names) ends.set(name, end);
      return result;
    },
    async drained() {
      await Promise.all(ends.values());
    },
  };
}
