import { estimateRequest } from '../../context/measure/tokens.ts';
import type { ToolSpec } from '../../ports/model.ts';
import type { RenderedPrompt } from '../../prompts/variables.ts';
import { type Reasoner, reasoningRoom } from '../ask/reasoning.ts';

/** Estimates for this model are uncorrected, so this share of the transcript's space is left free for errors. */
const SAFETY = 1.15;
const MIN_ANSWER = 256;
const MAX_ANSWER = 4096;

/** Instructions and answer take some 1,100 tokens: in a smaller window, a job would read one message at a time. */
const MIN_JOB_WINDOW = 2000;

/**
 * What a job may use of the window of the agent's own model: the agent's window. If that is very small and the model
 * reports a larger one, as much of it as a job needs.
 */
export function ownWindow(agentTokens: number, reportedTokens: number | null): number {
  return reportedTokens === null ? agentTokens : Math.min(Math.max(agentTokens, MIN_JOB_WINDOW), reportedTokens);
}

export function answerTokens(windowTokens: number): number {
  return Math.min(MAX_ANSWER, Math.max(MIN_ANSWER, Math.floor(windowTokens / 6)));
}

/** Space for each of the two lists before the transcript. */
function sideTokens(windowTokens: number): number {
  return Math.floor(windowTokens / 32);
}

/** The lists before a transcript take at most this share of it, each, and no more than the window allows. */
const SIDE_SHARE = 1 / 16;
const MIN_SIDE = 24;

/** Space for each of the two lists before a transcript of this size. */
export function sideTokensFor(windowTokens: number, spanTokens: number): number {
  return Math.min(sideTokens(windowTokens), Math.max(MIN_SIDE, Math.floor(spanTokens * SIDE_SHARE)));
}

/** Space for the transcript: what the instructions, the lists, the reasoning and the answer leave, and never zero. */
export function transcriptTokens(reader: Reasoner, prompt: RenderedPrompt, tools: readonly ToolSpec[]): number {
  const { windowTokens } = reader;
  const fixed = estimateRequest({ system: [{ text: prompt.text, cacheBreak: false }], messages: [], tools });
  const room = windowTokens - answerTokens(windowTokens) - reasoningRoom(reader) - fixed - 2 * sideTokens(windowTokens);
  return Math.max(Math.floor(windowTokens / 8), Math.floor(room / SAFETY));
}
