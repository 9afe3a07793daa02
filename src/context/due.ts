import type { ContextProfile, Tier } from '../ports/engine.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import { isLong, planCompaction } from './depth.ts';
import { correctionOf } from './fit.ts';
import { planCondense } from './plan.ts';

/** Whether there is maintenance to do at this tier: something to fill, rewrite, compact or condense. */
export function isDue(profile: ContextProfile, snapshot: ContextSnapshot, tier: Tier): boolean {
  const correction = correctionOf(snapshot, profile.modelId);
  // If the window is full and the tail cannot shrink, summaries are condensed below their share too.
  const share = tier === 'none' ? profile.stackShare : 0;
  const budget = { share, windowTokens: profile.windowTokens, correction };
  if (snapshot.stack.some((item) => item.kind === 'gap' || item.stale)) return true;
  if (planCondense(snapshot.stack, budget) !== null) return true;
  if (tier === 'none' && !isLong(snapshot, profile)) return false;
  // The running turn is about to be answered, so its messages no longer wait when the job runs.
  const limits = { ...snapshot.conversation, answeredUpto: snapshot.conversation.nextSeq };
  const due = tier === 'none' ? 'background' : tier;
  const usedTokens = tier === 'none' ? 0 : profile.thresholds[tier] * profile.windowTokens;
  return planCompaction(snapshot, limits, { profile, pressure: { tier: due, usedTokens, correction } }) !== null;
}
