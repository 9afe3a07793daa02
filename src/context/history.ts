import type { MaintenanceRun } from '../ports/journal.ts';
import type { ContextReport } from './inspection.ts';

/** How the view came to its size, and where it is going. */
export interface ContextHistory {
  /** Totals of the stored jobs, at most the newest `MAX_RUNS`. */
  readonly compactions: {
    /** False if there were more than are stored. */
    readonly isAll: boolean;
    readonly committed: number;
    readonly failed: number;
    /** Tokens that jobs made the view smaller by. */
    readonly freedTokens: number;
    readonly memories: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  };
  /** The largest view: now, or before one of these jobs. */
  readonly peak: { readonly tokens: number; readonly ratio: number };
  readonly trend: {
    /** The average of the messages since the last summary; null without any. */
    readonly tokensPerMessage: number | null;
    /** Messages of that size until the background threshold; null if nothing compacts the view. */
    readonly messagesLeft: number | null;
  };
}

/** As many as the journal keeps of a conversation. */
export const MAX_RUNS = 100;

export function historyOf(
  {
    measurement,
    summary,
    thresholds,
    compacts,
  }: Pick<ContextReport, 'measurement' | 'summary' | 'thresholds' | 'compacts'>,
  runs: readonly MaintenanceRun[],
): ContextHistory {
  const committed = runs.filter(({ outcome }) => outcome === 'committed');
  const sum = (of: (run: MaintenanceRun) => number, over = runs) => over.reduce((total, run) => total + of(run), 0);
  const { used, volatile, window } = measurement;
  const tokens = Math.max(used, ...runs.map(({ tokensBefore }) => tokensBefore));
  const { fromSeq, toSeq, tokens: tailTokens } = summary.tail;
  const messages = toSeq - fromSeq + 1;
  const perMessage = messages > 0 ? tailTokens / messages : null;
  const left = window * thresholds.background - (used - volatile);
  return {
    compactions: {
      isAll: runs.length < MAX_RUNS,
      committed: committed.length,
      failed: runs.filter(({ outcome }) => outcome === 'failed').length,
      freedTokens: sum(({ tokensBefore, tokensAfter }) => Math.max(0, tokensBefore - tokensAfter), committed),
      memories: sum(({ memories }) => memories, committed),
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
    },
    peak: { tokens, ratio: tokens / window },
    trend: {
      tokensPerMessage: perMessage === null ? null : Math.round(perMessage),
      messagesLeft: perMessage === null || !compacts ? null : Math.max(0, Math.ceil(left / perMessage)),
    },
  };
}
