import { z } from 'zod';
import { runChild } from '../child.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { startFlags } from '../flags.ts';
import { percentile } from '../samples.ts';
import { COMMITS, MEMORIES, PAST_MESSAGES, type TurnOptions, type TurnTimes } from '../turns.ts';

const CHILD = new URL('../children/turn.process.ts', import.meta.url);
/** A settled view of this size: each turn shows all of it, and compaction keeps up in the background. */
const FILLED_WINDOW = 6000;

const reportSchema = z.object({ ours: z.array(z.number()), bare: z.array(z.number()) });

/** Time from the arrival of a message to the post of its reply, with the model at 0 ms: the framework's own time. */
export async function turn(options: RowOptions): Promise<RowResult> {
  const short = await measure(options, null);
  const filled = await measure(options, FILLED_WINDOW);
  const figure = (percent: number, barMs: number | null): Figure => ({
    figure: `framework time a turn, p${percent}`,
    unit: 'ms',
    baseline: { of: `${COMMITS} bare commits`, value: percentile(short.bare, percent) },
    ours: percentile(short.ours, percent),
    bar: barMs === null ? null : { of: 'ours', is: 'below', value: barMs },
  });
  return {
    figures: [
      figure(50, 1),
      figure(95, null),
      figure(99, 3),
      {
        figure: `with a filled window of ${FILLED_WINDOW.toLocaleString('en')} tokens, p50`,
        unit: 'ms',
        baseline: { of: `${COMMITS} bare commits`, value: percentile(filled.bare, 50) },
        ours: percentile(filled.ours, 50),
        bar: { of: 'ours', is: 'below', value: 1.5 },
      },
    ],
    notes: [
      `${short.ours.length} turns, one at a time, in ${conversationsOf(options)} conversations with ${PAST_MESSAGES} messages and ${MEMORIES} memories behind them, in a separate process with the flags of \`npm start\` (${startFlags().join(' ')}). Each begins when the previous one is stored completely, and every message and reply is on the disk before it is acknowledged or posted.`,
      'The filled window contains as much of the same past as fits. While it fills again, summaries are written in the background.',
    ],
  };
}

function conversationsOf({ quick }: RowOptions): number {
  return quick ? 4 : 12;
}

function measure(options: RowOptions, windowTokens: number | null): Promise<TurnTimes> {
  const work: TurnOptions = { conversations: conversationsOf(options), blocks: options.quick ? 3 : 8, windowTokens };
  return runChild({ file: CHILD, args: [JSON.stringify(work)], report: reportSchema });
}
