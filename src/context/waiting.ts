import type { Entry } from '../domain/message.ts';
import type { ContextProfile } from '../ports/engine.ts';
import { firstWaiting, shownTokens, viewOrder } from './order.ts';
import { type Fitted, layOut, type ViewRequest } from './view.ts';

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
  const waiting = waitingIn(ordered, request);
  if (waiting.length < 2 || showsAll(fitted, { ordered, waiting, shownTextTokens })) return null;
  return waiting[countThatFits(fitted, waiting) - 1] ?? null;
}

function shownTokensOf({ windowTokens }: ContextProfile): number {
  return Math.floor(windowTokens * SHOWN_SHARE);
}

function waitingIn(ordered: readonly Entry[], { snapshot }: ViewRequest): readonly Entry[] {
  const from = firstWaiting(snapshot.conversation);
  return ordered.filter(({ role, seq, redactedAt }) => role === 'user' && seq >= from && redactedAt === null);
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

/** At least one, and fewer than all. */
function countThatFits({ request, measurement, correction }: Fitted, waiting: readonly Entry[]): number {
  const { window, fixed, stack, reserve } = measurement;
  const roomTokens = window * request.profile.thresholds.emergency - fixed - stack - reserve;
  const mostTokens = shownTokensOf(request.profile);
  let left = (roomTokens * SAFE_SHARE) / correction;
  let count = 0;
  for (const entry of waiting) {
    left -= Math.min(shownTokens(entry), mostTokens);
    if (left < 0) break;
    count += 1;
  }
  return Math.max(1, Math.min(count, waiting.length - 1));
}
