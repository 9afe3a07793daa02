import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { type Planted, plantAmongTalk } from '../planted.ts';

const WINDOW_TOKENS = 8000;
const SUMMARIES = [1, 5, 20];

/** Whether numbers, names, codes and promises survive summaries. */
export async function planted({ quick }: RowOptions): Promise<RowResult> {
  const found = await plantAmongTalk(WINDOW_TOKENS, quick ? SUMMARIES.slice(0, 2) : SUMMARIES);
  if (found === null) return { figures: [], notes: ['Skipped: the evaluation data is not at ../shared/data.'] };
  return {
    figures: found.flatMap((one, index) => figuresOf(one, SUMMARIES[index] ?? 0)),
    notes: [
      'Messages with one such detail each, between recorded messages, in a window of 8,000 tokens. The newest message asks about each detail in other words, and no tool is called. A detail is reachable if it is in view, kept by a summary, or listed as lost. The summariser keeps words without digits; the share that it keeps is that of its live summaries.',
    ],
  };
}

function figuresOf({ reachable, inView, kept }: Planted, summaries: number): readonly Figure[] {
  const after = `after ${summaries} ${summaries === 1 ? 'summary' : 'summaries'}`;
  const share = { unit: 'share', baseline: null } as const;
  return [
    {
      figure: `planted details reachable, ${after}`,
      ...share,
      ours: reachable,
      bar: { of: 'ours', is: 'exactly', value: 1 },
    },
    {
      figure: `planted details in view when asked, ${after}`,
      ...share,
      ours: inView,
      bar: { of: 'ours', is: 'at least', value: 0.95 },
    },
    { figure: `details that the summaries keep, ${after}`, ...share, ours: kept, bar: null },
  ];
}
