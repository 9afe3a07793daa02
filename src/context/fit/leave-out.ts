import type { FixedPrefixBuilder } from '../view/fixed-prefix.ts';
import { viewKey, viewOrder } from '../view/order.ts';
import type { Fitted, ViewRequest } from '../view/view.ts';
import { evaluate } from './fit.ts';

/** What one request leaves out of the past, because the provider's filter refuses it. */
export interface LeftOut {
  /** Messages before this one, in the order of the view. */
  readonly beforeSeq: number;
  readonly summaries: boolean;
  /** Memories and quotes next to the newest message. The clock stays. */
  readonly recalled: boolean;
}

/** The same request with less of the past; the same object if it has nothing of that. */
export function leaveOut(prefixes: FixedPrefixBuilder, fitted: Fitted, leftOut: LeftOut): Fitted {
  const { request, reduction } = fitted;
  const dropsStack = leftOut.summaries && request.snapshot.stack.length > 0;
  const droppedStackShare = dropsStack ? 1 : reduction.droppedStackShare;
  const droppedTailShare = Math.max(reduction.droppedTailShare, shareBefore(request, leftOut.beforeSeq));
  const volatile = leftOut.recalled ? request.volatile.filter(({ key }) => key === 'clock') : request.volatile;
  const isSame =
    droppedStackShare === reduction.droppedStackShare &&
    droppedTailShare === reduction.droppedTailShare &&
    volatile.length === request.volatile.length;
  if (isSame) return fitted;
  return evaluate(prefixes, { ...request, volatile }, { ...reduction, droppedStackShare, droppedTailShare });
}

/** The share of the messages before the newest one that come before this one. */
function shareBefore({ snapshot, readUpto }: ViewRequest, beforeSeq: number): number {
  const ordered = viewOrder(snapshot.tail, readUpto);
  const newest = ordered.findLastIndex(({ role }) => role === 'user');
  const before = ordered.findIndex((entry) => viewKey(entry) >= beforeSeq);
  if (newest <= 0 || before === 0) return 0;
  // A view leaves out whole messages: half of one more makes sure that rounding does not keep the last of them.
  return before < 0 || before >= newest ? 1 : (before + 0.5) / newest;
}
