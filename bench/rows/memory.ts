import { z } from 'zod';
import { runChild } from '../child.ts';
import type { RowOptions, RowResult } from '../figure.ts';
import { startFlags } from '../flags.ts';

const CHILD = new URL('../children/memory.process.ts', import.meta.url);
const CONVERSATIONS = 1000;

const reportSchema = z.object({
  readyBytes: z.number(),
  usedBytes: z.number(),
  idleBytes: z.number(),
  heapBeforeBytes: z.number(),
  heapIdleBytes: z.number(),
});

/** The resident set of a process that served a thousand conversations, and the share of one idle conversation. */
export async function memory({ quick }: RowOptions): Promise<RowResult> {
  const turns = quick ? 4 : 10;
  const flags = startFlags();
  // The first run fills Node's compile cache, like the first start of a bot.
  await measureInChild(1, 1);
  const report = await measureInChild(CONVERSATIONS, turns);
  const ready = { of: 'at the start', value: report.readyBytes / 1e6 };
  const perIdle = Math.max(0, (report.heapIdleBytes - report.heapBeforeBytes) / CONVERSATIONS);
  return {
    figures: [
      {
        figure: 'resident memory, 1,000 conversations used',
        unit: 'MB',
        baseline: ready,
        ours: report.usedBytes / 1e6,
        bar: { of: 'ours', is: 'below', value: 145 },
      },
      {
        figure: 'resident memory, 2,000 idle',
        unit: 'MB',
        baseline: ready,
        ours: report.idleBytes / 1e6,
        bar: null,
      },
      {
        figure: 'heap of an idle conversation',
        unit: 'bytes',
        baseline: null,
        ours: perIdle,
        bar: { of: 'ours', is: 'below', value: 2000 },
      },
    ],
    notes: [
      `${CONVERSATIONS} conversations of ${turns} turns in a separate process with the flags of \`npm start\` (${flags.join(' ')}), 50 at a time and as fast as possible. The resident set is measured without forcing a garbage collection. Then as many new conversations follow: the heap of an idle conversation is the difference between the two heaps after a collection, with all conversations idle, divided by ${CONVERSATIONS}.`,
    ],
  };
}

function measureInChild(conversations: number, turns: number): Promise<z.infer<typeof reportSchema>> {
  return runChild({ file: CHILD, args: [conversations, turns], flags: ['--expose-gc'], report: reportSchema });
}
