import type { Entry } from '../../domain/message.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { ContextSnapshot } from '../../ports/store.ts';
import { correctionFor } from '../measure/calibration.ts';
import { tierOf } from '../measure/tiers.ts';
import { recentTurnsFrom } from '../view/view.ts';
import { isLong, planCompaction } from './depth.ts';
import { planCondense } from './plan.ts';

/**
 * The share of the window that summaries may take when the tail cannot shrink: their own; or none, if the view comes to
 * rest without them. Results of tools become shorter first: a turn that fills the window with them condenses nothing.
 */
export function stackShareAt(
  { stackShare, thresholds, windowTokens, toolResults }: ContextProfile,
  snapshot: Pick<ContextSnapshot, 'stack' | 'tail'>,
  { usedTokens, correction }: { readonly usedTokens: number; readonly correction: number },
): number {
  const restTokens = thresholds.background * windowTokens;
  const stackTokens = snapshot.stack.reduce((sum, { tokens }) => sum + tokens, 0) * correction;
  // Most views are decided without their tail, so a forecast does not need to copy it.
  if (usedTokens < restTokens || usedTokens - stackTokens >= restTokens) return stackShare;
  const { tail } = snapshot;
  // Older results are short already in a view that is so full.
  const whole = tail.slice(recentTurnsFrom(tail, toolResults));
  const spareTokens = whole.reduce((sum, entry) => sum + spareTokensOf(entry, toolResults.oldBytes), 0) * correction;
  return usedTokens - spareTokens >= restTokens ? 0 : stackShare;
}

/** What a request without room leaves out of an entry. A byte is at most a token. */
function spareTokensOf({ role, tokens }: Entry, keptBytes: number): number {
  return role === 'tool' ? Math.max(0, tokens - keptBytes) : 0;
}

/** Whether there is maintenance to do in a view of so many tokens: something to fill, rewrite, compact or condense. */
export function isDue(profile: ContextProfile, snapshot: ContextSnapshot, usedTokens: number): boolean {
  const correction = correctionFor(snapshot.conversation, profile.modelId);
  const tier = tierOf(usedTokens / profile.windowTokens, profile.thresholds);
  const share = stackShareAt(profile, snapshot, { usedTokens, correction });
  const budget = { share, windowTokens: profile.windowTokens, correction };
  if (snapshot.stack.some((item) => item.kind === 'gap' || item.stale)) return true;
  if (planCondense(snapshot.stack, budget) !== null) return true;
  if (tier === 'none' && !isLong(snapshot, profile)) return false;
  // The running turn is about to be answered, so its messages no longer wait when the job runs.
  const limits = { ...snapshot.conversation, answeredUpto: snapshot.conversation.nextSeq };
  const due = tier === 'none' ? 'background' : tier;
  const reachedTokens = tier === 'none' ? 0 : profile.thresholds[tier] * profile.windowTokens;
  const pressure = { tier: due, usedTokens: reachedTokens, correction };
  return planCompaction(snapshot, limits, { profile, pressure }) !== null;
}
