import { StrataError } from '../../domain/errors.ts';
import { yieldToEventLoop } from '../../util/async/event-loop.ts';
import { createLanes } from '../../util/async/lanes.ts';

export interface ForecastQueue {
  /** Throws `INSPECTOR_BUSY` while too many wait, or too many of this viewer. */
  run<Result>(viewer: string, work: () => Promise<Result>): Promise<Result>;
}

/** One for each of many people who move a slider. */
const MAX_WAITING = 50;
/** Of one viewer, so that others can try settings, too. */
const MAX_OWN = 25;

/** Runs one at a time, and the bot gets a turn before each. */
export function createForecastQueue(): ForecastQueue {
  const lanes = createLanes();
  const waiting: string[] = [];
  return {
    async run(viewer, work) {
      const own = waiting.filter((other) => other === viewer).length;
      if (waiting.length >= MAX_WAITING || own >= MAX_OWN)
        throw new StrataError('INSPECTOR_BUSY', { waiting: waiting.length });
      waiting.push(viewer);
      try {
        return await lanes.run(['what-if'], async () => {
          await yieldToEventLoop();
          return await work();
        });
      } finally {
        waiting.splice(waiting.indexOf(viewer), 1);
      }
    },
  };
}
