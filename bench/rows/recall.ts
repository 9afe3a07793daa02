import type { Figure, RowResult } from '../figure.ts';
import { type RecallRow, recallBench } from '../recall.ts';

/** Whether the messages that answer a question are found, without a model. */
export async function recall(): Promise<RowResult> {
  const rows = await recallBench(() => undefined);
  if (rows === null) return { figures: [], notes: ['Skipped: the evaluation data is not at ../shared/data.'] };
  return {
    figures: rows.filter((row) => row.bar !== null || row.figure.endsWith('latency p50')).map(toFigure),
    notes: [
      'Strict evidence messages of all question categories; `node bench/recall.ts` prints every depth, budget and category.',
    ],
  };
}

function toFigure({ figure, ours, baseline, bar, unit }: RecallRow): Figure {
  return {
    figure,
    unit,
    baseline: { of: 'BM25 of single messages', value: baseline },
    ours,
    bar: bar === null ? null : { of: 'ours', is: 'at least', value: bar },
  };
}
