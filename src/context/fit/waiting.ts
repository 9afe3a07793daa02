import type { Entry } from '../../domain/message.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import { isWaiting, shownTokens, viewOrder } from '../view/order.ts';
import { type Fitted, layOut } from '../view/view.ts';

/** A longer message that waits for its answer counts as shown if this share of the window shows it. */
const SHOWN_SHARE = 1 / 16;
/** Of the room for messages: estimates may be too low. */
const SAFE_SHARE = 0.9;

/**
 * The message that a turn should read up to, because the view of all waiting messages leaves some of them out, or all
 * but a few of their words. The others stay owed. Null if the view shows every waiting message, or only one waits.
 */
export function newestThatFits(fitted: Fitted): Entry | null {
  const { request, reduction } = fitted;
  const shownTextTokens = shownTokensOf(request.profile);
  if (reduction.droppedTailShare === 0 && reduction.textTokens >= shownTextTokens) return null;
  const ordered = viewOrder(request.snapshot.tail, request.readUpto);
  const waiting = ordered.filter((entry) => isWaiting(entry, request.snapshot.conversation));
  if (waiting.length < 2 || showsAll(fitted, { ordered, waiting, shownTextTokens })) return null;
  return waiting[countThatFits(fitted, { ordered, waiting }) - 1] ?? null;
}

function shownTokensOf({ windowTokens }: ContextProfile): number {
  return Math.floor(windowTokens * SHOWN_SHARE);
}

interface Shown {
  readonly ordered: readonly Entry[];
  readonly waiting: readonly Entry[];
  readonly shownTextTokens: number;
}

/** The newest message has its own limit. */
function showsAll({ request, reduction }: Fitted, { ordered, waiting, shownTextTokens }: Shown): boolean {
  const [first] = waiting;
  const { dropped } = layOut(request, reduction);
  if (first === undefined || ordered.indexOf(first) < dropped) return false;
  const { textTokens } = reduction;
  return textTokens >= shownTextTokens || waiting.slice(0, -1).every(({ tokens }) => tokens <= textTokens);
}

/** At least one, and fewer than all. What others said in between is shown with them. */
function countThatFits(
  { request, measurement, correction }: Fitted,
  { ordered, waiting }: Pick<Shown, 'ordered' | 'waiting'>,
): number {
  const { window, fixed, stack, reserve } = measurement;
  const roomTokens = window * request.profile.thresholds.emergency - fixed - stack - reserve;
  const mostTokens = shownTokensOf(request.profile);
  let left = (roomTokens * SAFE_SHARE) / correction;
  let count = 0;
  const [first] = waiting;
  for (const entry of ordered.slice(first === undefined ? 0 : ordered.indexOf(first))) {
    left -= Math.min(shownTokens(entry), mostTokens);
    if (left < 0) break;
    if (entry === waiting[count]) count += 1;
  }
  return Math.max(1, Math.min(count, waiting.length - 1));
}
