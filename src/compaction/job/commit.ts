import { canCondense } from '../../context/cuts/ready.ts';
import type { SeqRange, SummaryId } from '../../domain/message.ts';
import type { Conversation } from '../../ports/store.ts';
import type { CondensationCommit, Summary } from '../../ports/summary-store.ts';

/** Where a summary belongs in the stack. */
export type CompactionPlan =
  /** Appends to the stack: the pointer moves to `compactedUpto`. */
  | { readonly kind: 'append'; readonly compactedUpto: number }
  /**
   * Replaces gaps or stale summaries, and may extend past the old end of the stack. The rest of the last one becomes a
   * gap with the range `remainder`.
   */
  | {
      readonly kind: 'fill';
      readonly replaces: readonly SummaryId[];
      readonly remainder: (SeqRange & { readonly id: SummaryId }) | null;
      readonly compactedUpto: number;
    }
  /** The stack has changed since the job read it. */
  | { readonly kind: 'stale' };

const STALE: CompactionPlan = { kind: 'stale' };

/**
 * Decides where a summary of `range` belongs in the current stack, or that it does not belong anywhere. Pure: stores
 * call it inside the committing transaction. `live` is the stack in order. A valid summary is only replaced if the commit
 * names it in `rewrites` and has its exact range, so a repeated or late result changes nothing.
 */
export function planCompactionCommit(
  state: Pick<Conversation, 'compactedUpto' | 'contextFrom' | 'nextSeq'>,
  live: readonly Summary[],
  { fromSeq, toSeq, rewrites = null }: SeqRange & { readonly rewrites?: SummaryId | null },
): CompactionPlan {
  const isPossible = fromSeq >= state.contextFrom && fromSeq <= toSeq && toSeq < state.nextSeq;
  if (!isPossible || fromSeq > state.compactedUpto + 1) return STALE;
  const covered = live.filter((item) => item.toSeq >= fromSeq && item.fromSeq <= toSeq);
  if (rewrites !== null) return planRewrite(state, covered, { fromSeq, toSeq, rewrites });
  if (fromSeq === state.compactedUpto + 1) return { kind: 'append', compactedUpto: toSeq };
  if (covered[0]?.fromSeq !== fromSeq || !covered.every(isReplaceable)) return STALE;
  return planFill(state, covered, toSeq);
}

function planRewrite(
  { compactedUpto }: Pick<Conversation, 'compactedUpto'>,
  covered: readonly Summary[],
  { fromSeq, toSeq, rewrites }: SeqRange & { readonly rewrites: SummaryId },
): CompactionPlan {
  const [only, ...others] = covered;
  const isSame = only?.id === rewrites && only.fromSeq === fromSeq && only.toSeq === toSeq && others.length === 0;
  if (!isSame || only.level > 0 || !canRewrite(only)) return STALE;
  return { kind: 'fill', replaces: [rewrites], remainder: null, compactedUpto };
}

/** A valid summary in the stack. Stale ones are rewritten anyway. */
export function canRewrite({ kind, stale, supersededBy }: Summary): boolean {
  return kind === 'summary' && !stale && supersededBy === null;
}

/**
 * Whether a condensed summary may take the place of the one that the commit names: that one is in the stack with the
 * same level and range, and its parts are those that the job has read. Pure, like `planCompactionCommit`.
 */
export function canRecondense(
  live: readonly Summary[],
  parts: readonly Summary[],
  { summary, childIds, rewrites }: Pick<CondensationCommit, 'summary' | 'childIds' | 'rewrites'>,
): boolean {
  const old = live.find(({ id }) => id === rewrites);
  if (old === undefined || old.level !== summary.level || !canRewrite(old)) return false;
  const isWhole = old.fromSeq === summary.fromSeq && old.toSeq === summary.toSeq && canCondense(parts, summary);
  return isWhole && parts.length === childIds.length && parts.every(({ id }) => childIds.includes(id));
}

function planFill(
  state: Pick<Conversation, 'compactedUpto'>,
  covered: readonly Summary[],
  toSeq: number,
): CompactionPlan {
  const last = covered.at(-1);
  const isCut = last !== undefined && last.toSeq > toSeq;
  return {
    kind: 'fill',
    replaces: (isCut ? covered.slice(0, -1) : covered).map((item) => item.id),
    remainder: isCut ? { id: last.id, fromSeq: toSeq + 1, toSeq: last.toSeq } : null,
    compactedUpto: Math.max(state.compactedUpto, toSeq),
  };
}

/** A gap, or a level-0 summary whose entries were edited. */
function isReplaceable(item: Summary): boolean {
  return item.level === 0 && (item.kind === 'gap' || item.stale);
}
