import type { AgentSettings } from '../../config/schema.ts';
import type { ContextProfile, Targets } from '../../ports/engine.ts';

/** The share for tools and system sections; a large window has room for more. */
const FIXED_SHARE = 0.3;
const LARGE_FIXED_SHARE = 0.4;
const LARGE_WINDOW = 16_000;
/** The share that is left for the newest message if the configuration names none. */
const MIN_TAIL_SHARE = 0.05;
/** Tools and system sections get at least this much, however little the other shares leave. */
const MIN_FIXED_SHARE = 0.15;

/** The maximum that `auto` gives to memories and earlier messages, and its share of smaller windows. */
const MAX_RECALL_TOKENS = 2000;
const RECALL_SHARE = 0.1;

type Compaction = AgentSettings['compaction'];

/** What an agent's settings make of a model's window. */
export type Limits = Omit<
  ContextProfile,
  'agentId' | 'modelId' | 'fallbackIds' | 'traits' | 'timeZone' | 'sections' | 'tools'
>;

/** `reportedTokens` is the window that the model reports. */
export function limitsOf(agent: AgentSettings, reportedTokens: number): Limits {
  const { compaction, tool_results } = agent;
  const windowTokens = agent.context_window === 'auto' ? reportedTokens : agent.context_window;
  const { background_threshold: background, aggressive_threshold: aggressive } = compaction;
  const reserveTokens = reserveTokensOf(agent, windowTokens);
  const recallTokens = recallTokensOf(agent, windowTokens);
  return {
    windowTokens,
    reserveTokens,
    thresholds: { background, aggressive, emergency: compaction.emergency_threshold },
    recallTokens,
    targets: targetsOf(compaction),
    messageThreshold: compaction.message_threshold,
    fixedShare: fixedShareOf(compaction, { windowTokens, reserveTokens, recallTokens }),
    stackShare: compaction.stack_share,
    toolResults: { recentTurns: tool_results.recent_turns, oldBytes: tool_results.old_bytes },
    tailShare: compaction.tail_share === 'auto' ? 0 : compaction.tail_share,
  };
}

/** What is reserved for the answer. */
function reserveTokensOf(agent: AgentSettings, windowTokens: number): number {
  return Math.min(agent.max_output_tokens, Math.floor(windowTokens * agent.compaction.reserve_share));
}

/** Chosen so that with full shares the view is below the first threshold, and what is recalled fits in too. */
function fixedShareOf(
  { fixed_share, background_threshold, emergency_threshold, stack_share, tail_share }: Compaction,
  { windowTokens, reserveTokens, recallTokens }: Pick<Limits, 'windowTokens' | 'reserveTokens' | 'recallTokens'>,
): number {
  if (fixed_share !== 'auto') return fixed_share;
  const usual = windowTokens < LARGE_WINDOW ? FIXED_SHARE : LARGE_FIXED_SHARE;
  const tailShare = tail_share === 'auto' ? MIN_TAIL_SHARE : tail_share;
  const atRest = Math.min(background_threshold, emergency_threshold - recallTokens / windowTokens);
  const left = atRest - stack_share - tailShare - reserveTokens / windowTokens;
  return Math.max(MIN_FIXED_SHARE, Math.min(usual, left));
}

/** The maximum for memories and earlier messages next to a new message. */
function recallTokensOf({ recall }: AgentSettings, windowTokens: number): number {
  return recall.tokens === 'auto' ? autoRecallTokens(windowTokens) : recall.tokens;
}

export function autoRecallTokens(windowTokens: number): number {
  return Math.min(MAX_RECALL_TOKENS, Math.floor(windowTokens * RECALL_SHARE));
}

function targetsOf({ background_target, aggressive_target, emergency_target }: Compaction): Targets {
  const orNull = (target: number | 'auto') => (target === 'auto' ? null : target);
  return {
    background: orNull(background_target),
    aggressive: orNull(aggressive_target),
    emergency: orNull(emergency_target),
  };
}
