import { describe, type Log } from '../../../src/adapter-kit.ts';

/** Runs tasks one at a time per lane, and lanes concurrently. */
export interface Lanes {
  put(name: string, work: () => Promise<void>): void;
  drained(): Promise<void>;
}

export function createKeyedQueue(log: Log): Lanes {
  const ends = new Map<string, Promise<void>>();
  return {
    put(name, work) {
      const end = (ends.get(name) ?? Promise.resolve()).then(work).catch((error: unknown) => {
        log.error('An event of Discord was not taken', { channel: name, cause: describe(error) });
      });
      ends.set(name, end);
      end.then(
        () => ends.get(name) === end && ends.delete(name),
        () => undefined,
      );
    },
    async drained() {
      await Promise.all(ends.values());
    },
  };
}
