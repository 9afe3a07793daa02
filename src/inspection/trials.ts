import { StrataError } from '../domain/errors.ts';
import { yieldToEventLoop } from '../util/event-loop.ts';
import { createLanes } from '../util/lanes.ts';

export interface Trials {
  /** Throws `INSPECTOR_BUSY` while too many wait. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** One for each of many people who move a slider. */
const MAX_WAITING = 50;

/** Runs one at a time, and the bot gets a turn before each. */
export function createTrials(): Trials {
  const lanes = createLanes();
  let waiting = 0;
  return {
    async run(work) {
      if (waiting >= MAX_WAITING) throw new StrataError('INSPECTOR_BUSY', { waiting });
      waiting += 1;
      try {
        return await lanes.run(['what-if'], async () => {
          await yieldToEventLoop();
          return await work();
        });
      } finally {
        waiting -= 1;
      }
    },
  };
}
