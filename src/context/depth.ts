import type { ContextProfile } from '../ports/engine.ts';
import type { ContextSnapshot } from '../ports/store.ts';
import type { CutLimits } from './order.ts';
import { type Cut, planCut } from './plan.ts';
import { CUT_FRACTIONS } from './tiers.ts';

/** Share of the window for new talk that a compaction leaves below the background threshold. */
export const HEADROOM = 0.05;
/** What is planned for, because a cut falls between messages and the length of a summary is not known before. */
const PLANNED_HEADROOM = 0.09;
/** A call's instructions take about 700 tokens, so in a small window a compaction frees more of it at once. */
const MIN_PLANNED_TOKENS = 240;
/** A summary's usual share of what it replaces. */
const SUMMARY_SHARE = 0.3;
/** Of the window, what a cut frees at least: less is not worth a call and a new prefix. */
export const MIN_GAIN = 0.02;
/** Minimum tokens of messages for a summary, which also has a label: one of a few words can't be shorter than its source. */
const MIN_SOURCE = 120;

/** Whether a summary of so many tokens of messages frees enough. A person's request need not free much. */
export function isWorthIt(
  tokens: number,
  { windowTokens, correction }: { readonly windowTokens: number; readonly correction: number },
): boolean {
  return tokens >= MIN_SOURCE && tokens * correction >= MIN_GAIN * windowTokens;
}

export interface Pressure {
  readonly tier: 'background' | 'aggressive' | 'emergency' | 'manual';
  /** Corrected tokens of the view without its sections for the newest message. */
  readonly usedTokens: number;
  /** What estimates are multiplied by. */
  readonly correction: number;
}

/** What a compaction takes out of the tail: the tier's share, and more where the next one would follow too soon. */
export function planCompaction(
  { tail, omitted }: ContextSnapshot,
  limits: CutLimits,
  { profile, pressure }: { readonly profile: ContextProfile; readonly pressure: Pressure },
): Cut | null {
  const { windowTokens, thresholds } = profile;
  const { tier, usedTokens, correction } = pressure;
  const fraction = tier === 'manual' ? CUT_FRACTIONS.aggressive : CUT_FRACTIONS[tier];
  const headroomTokens = Math.max(PLANNED_HEADROOM * windowTokens, MIN_PLANNED_TOKENS);
  // A view above the emergency threshold is compacted in several steps.
  const overTokens = Math.min(usedTokens, thresholds.emergency * windowTokens) - thresholds.background * windowTokens;
  const deeperTokens = Math.max(0, overTokens + headroomTokens) / correction / (1 - SUMMARY_SHARE);
  const atLeastTokens = tier === 'manual' ? 0 : deeperTokens;
  return planCut(tail, { ...limits, fraction, atLeastTokens, omitted });
}
