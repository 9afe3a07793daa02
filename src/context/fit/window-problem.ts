import { dropsOldest } from '../../config/known.ts';
import type { AgentSettings } from '../../config/schema.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import { formatNumber } from '../../util/text/text.ts';
import { roomierSettings, roomOf, USUAL_TURN_TOKENS, type WindowRoom } from './window-room.ts';

/** A window in which the agent can't answer, or in which almost every message causes work. */
export interface WindowProblem {
  readonly agent: string;
  readonly severity: 'warn' | 'fail';
  readonly message: string;
  readonly fixHint: string;
}

/** Null if a usual turn fits below the first threshold. */
export function windowProblemOf(agent: AgentSettings, profile: ContextProfile): WindowProblem | null {
  const room = roomOf(profile);
  const isFull = room.leastTokens > room.windowTokens;
  if (!isFull && room.leftTokens >= USUAL_TURN_TOKENS) return null;
  const message = isFull
    ? fullText(room)
    : `${tightText(room, profile)}, so ${dropsOldest(agent) ? 'the model sees little more than the newest message' : 'almost every message causes a compaction'}`;
  const severity = isFull ? 'fail' : 'warn';
  return { agent: agent.id, severity, message: `agent ${agent.id}: ${message}`, fixHint: remedyFor(agent, profile) };
}

function fullText({ windowTokens, leastTokens }: WindowRoom): string {
  return `the window of ${formatNumber(windowTokens)} tokens is too small to answer at all: the tools and system sections, the answer and a short message need about ${formatNumber(leastTokens)}, however much is left out`;
}

function tightText(room: WindowRoom, { thresholds }: ContextProfile): string {
  const { windowTokens, fixedTokens, wholeTokens, reserveTokens, thresholdTokens, leftTokens } = room;
  const shortened = fixedTokens < wholeTokens ? ` (shortened from ${formatNumber(wholeTokens)})` : '';
  const left = leftTokens > 0 ? `only ${formatNumber(leftTokens)} tokens` : 'nothing';
  return `in the window of ${formatNumber(windowTokens)} tokens, tools and system sections take ${formatNumber(fixedTokens)}${shortened} and the answer ${formatNumber(reserveTokens)}, which leaves ${left} for messages below background_threshold ${thresholds.background} (${formatNumber(thresholdTokens)} tokens); a usual turn takes about ${USUAL_TURN_TOKENS}`;
}

/** What the model can take, nearest first. */
function remedyFor(agent: AgentSettings, profile: ContextProfile): string {
  const { background, windowTokens } = roomierSettings(profile, agent);
  const modelTokens = profile.traits.windowTokens ?? Number.POSITIVE_INFINITY;
  const ways = [
    ...(background === null ? [] : [`raise background_threshold to ${background} and the others above it`]),
    ...(windowTokens === null || windowTokens > modelTokens
      ? []
      : [`raise context_window to ${formatNumber(windowTokens)}`]),
    ...(modelTokens < (windowTokens ?? 0) ? ['choose a model with a larger window'] : []),
    'shorten the persona, the policy and the sections, or name fewer tools',
  ];
  const text = ways.join(', or ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
