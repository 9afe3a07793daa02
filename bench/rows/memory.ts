import { z } from 'zod';
import { runChild } from '../child.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { startEnvironment, startFlags } from '../flags.ts';

const CHILD = new URL('../children/memory.process.ts', import.meta.url);
const CONVERSATIONS = 1000;
const MAX_USED_MB = 145;

const reportSchema = z.object({
  readyBytes: z.number(),
  usedBytes: z.number(),
  idleBytes: z.number(),
  heapBeforeBytes: z.number(),
  heapIdleBytes: z.number(),
});
type Report = z.infer<typeof reportSchema>;

/** The resident set of a process that served a thousand conversations, and the share of one idle conversation. */
export async function memory({ quick }: RowOptions): Promise<RowResult> {
  const turns = quick ? 4 : 10;
  // The first run fills Node's compile cache, like the first start of a bot.
  await measureInChild(1, 1);
  const report = await measureInChild(CONVERSATIONS, turns);
  const settings = Object.entries(startEnvironment())
    .map((setting) => `\`${setting.join('=')}\``)
    .join(', ');
  const perIdle = Math.max(0, (report.heapIdleBytes - report.heapBeforeBytes) / CONVERSATIONS);
  return {
    figures: [
      resident('resident memory, 1,000 conversations used', report, 'usedBytes'),
      resident('resident memory, 2,000 idle', report, 'idleBytes'),
      {
        figure: 'heap of an idle conversation',
        unit: 'bytes',
        baseline: null,
        ours: perIdle,
        bar: { of: 'ours', is: 'below', value: 2000 },
      },
    ],
    notes: [
      `${CONVERSATIONS} conversations of ${turns} turns in a separate process with the flags of \`npm start\` (${startFlags().join(' ')}), 50 at a time and as fast as possible. The resident set is measured without forcing a garbage collection. Then as many new conversations follow: the heap of an idle conversation is the difference between the two heaps after a collection, with all conversations idle, divided by ${CONVERSATIONS}.`,
      `\`npm start\` also sets ${settings}. With these, glibc returns the memory that Node.js frees after compiling; other systems ignore them.`,
    ],
  };
}

function resident(figure: string, report: Report, stage: 'usedBytes' | 'idleBytes'): Figure {
  const bar: Figure['bar'] = stage === 'usedBytes' ? { of: 'ours', is: 'below', value: MAX_USED_MB } : null;
  const baseline = { of: 'at the start', value: report.readyBytes / 1e6 };
  return { figure, unit: 'MB', baseline, ours: report[stage] / 1e6, bar };
}

function measureInChild(conversations: number, turns: number): Promise<Report> {
  return runChild({ file: CHILD, args: [conversations, turns], flags: ['--expose-gc'], report: reportSchema });
}
