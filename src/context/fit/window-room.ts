import type { AgentSettings } from '../../config/schema.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import { limitsOf } from '../profile/shares.ts';
import { buildPrefix } from '../view/fixed-prefix.ts';
import { reductionSteps } from '../view/reduce.ts';

/** A question, its answer, and a summary of what came before: with less, almost every message would be due at once. */
export const USUAL_TURN_TOKENS = 240;
/** The newest message in the smallest request: its label and its first words. */
const SHORTEST_ASK_TOKENS = 32;
/** The highest first threshold that is suggested. */
const HIGHEST_BACKGROUND = 0.8;
const THRESHOLD_STEP = 0.05;
const WINDOW_STEP = 1.25;
const LARGEST_WINDOW = 1_000_000;

/** What an agent's window leaves for a conversation, in estimated tokens. */
export interface WindowRoom {
  readonly windowTokens: number;
  /** Tools and system sections as they are sent, and as they would be without a limit. */
  readonly fixedTokens: number;
  readonly wholeTokens: number;
  /** Reserved for the answer. */
  readonly reserveTokens: number;
  /** The size of the view at the first threshold. */
  readonly thresholdTokens: number;
  /** What summaries and messages can take below that threshold; negative if the fixed part alone exceeds it. */
  readonly leftTokens: number;
  /** The smallest request that can be made. If it is larger than the window, the agent can't answer. */
  readonly leastTokens: number;
}

/** The room beside tools and system sections, before a conversation begins. */
export function roomOf(profile: ContextProfile): WindowRoom {
  const { windowTokens, reserveTokens, thresholds, fixedShare } = profile;
  const budgetTokens = Math.floor(windowTokens * fixedShare);
  const fixedTokens = buildPrefix(profile, budgetTokens).tokens;
  const leastShare = Math.min(...reductionSteps(windowTokens).map(({ reduction }) => reduction.fixedShare));
  const leastFixed = buildPrefix(profile, Math.floor(budgetTokens * leastShare)).tokens;
  const thresholdTokens = Math.floor(thresholds.background * windowTokens);
  return {
    windowTokens,
    fixedTokens,
    reserveTokens,
    thresholdTokens,
    wholeTokens: buildPrefix(profile, Number.MAX_SAFE_INTEGER).tokens,
    leftTokens: thresholdTokens - fixedTokens - reserveTokens,
    leastTokens: leastFixed + reserveTokens + SHORTEST_ASK_TOKENS,
  };
}

/** Settings with which a usual turn fits; null where none is found. */
export interface RoomierSettings {
  readonly background: number | null;
  readonly windowTokens: number | null;
}

/** The nearest first threshold and the nearest window that leave room for a usual turn. */
export function roomierSettings(profile: ContextProfile, agent: AgentSettings): RoomierSettings {
  const fits = (changed: AgentSettings) => {
    const { leftTokens } = roomOf({ ...profile, ...limitsOf(changed, profile.windowTokens) });
    return leftTokens >= USUAL_TURN_TOKENS;
  };
  return {
    background:
      thresholdsAbove(agent.compaction.background_threshold).find((background_threshold) =>
        fits({ ...agent, compaction: { ...agent.compaction, background_threshold } }),
      ) ?? null,
    windowTokens:
      windowsAbove(profile.windowTokens).find((context_window) => fits({ ...agent, context_window })) ?? null,
  };
}

function thresholdsAbove(threshold: number): readonly number[] {
  const first = Math.floor(threshold / THRESHOLD_STEP + 1e-9) + 1;
  const last = Math.round(HIGHEST_BACKGROUND / THRESHOLD_STEP);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    Number(((first + index) * THRESHOLD_STEP).toFixed(2)),
  );
}

/** Round numbers. */
function windowsAbove(windowTokens: number): readonly number[] {
  const windows: number[] = [];
  for (let next = windowTokens * WINDOW_STEP; next <= LARGEST_WINDOW; next *= WINDOW_STEP) {
    windows.push(Math.ceil(next / 100) * 100);
  }
  return windows;
}
