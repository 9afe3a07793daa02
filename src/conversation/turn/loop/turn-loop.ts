import { describe, isStoreAway, isStrataError, ModelError } from '../../../domain/errors.ts';
import type { Assembly } from '../../../ports/engine.ts';
import type { TurnFailure } from '../../../ports/events.ts';
import type { FinishReason } from '../../../ports/model.ts';
import { cleanText, isVisible } from '../../../util/text/text.ts';
import { callModel, isLastStep, isSilent } from './ask-model.ts';
import type { TurnLimits, TurnOptions } from './effects.ts';
import type { Cut, TurnOutcome, TurnStep } from './outcome.ts';
import { withoutOwnLabel } from './own-label.ts';
import { callTools } from './tool-round.ts';

/**
 * One turn: alternates model and tools until there is an answer. Rejects only before the first tool call, if the store
 * is unavailable or too many messages wait. The turn can then be tried again; later, that would repeat the tool call.
 */
export async function runTurn(options: TurnOptions, callIdPrefix: string): Promise<TurnOutcome> {
  const steps: TurnStep[] = [];
  let before: Assembly | null = null;
  let hasCalledTools = false;
  try {
    for (;;) {
      const { step, assembly } = await callModel(options, steps, before);
      before = assembly;
      // The next step reads exactly what will be stored.
      const text = withoutOwnLabel(cleanText(step.text).trim());
      if (step.calls.length === 0) {
        const answer = isSilent(step) ? (steps.at(-1)?.text ?? '') : text;
        if (isVisible(answer)) return { kind: 'answered', text: answer, cut: cutOf(step.finish), steps };
        return { kind: 'failed', ...unanswered(step.finish), steps };
      }
      // Not every server heeds the choice of tools. Nobody would read the results.
      if (isLastStep(options, steps)) return { kind: 'failed', ...tooManySteps(options), steps };
      hasCalledTools = true;
      const { calls, reasoning } = step;
      const round = { text, calls, reasoning, offered: assembly.tools };
      steps.push(await callTools(options, round, `${callIdPrefix}.${steps.length + 1}`));
    }
  } catch (error) {
    if (!hasCalledTools && (isStoreAway(error) || isStrataError(error, 'TOO_MANY_WAITING'))) throw error;
    return { kind: 'failed', ...turnFailureOf(error), steps };
  }
}

function cutOf(finish: FinishReason): Cut | null {
  return finish === 'length' || finish === 'filtered' ? finish : null;
}

/** Why there is no text. Models that reason may use up the length of the answer before they begin it. */
function unanswered(finish: FinishReason): { reason: TurnFailure; message: string } {
  if (finish === 'filtered') return { reason: 'filtered', message: "the provider's content filter removed the answer" };
  if (finish !== 'length') return { reason: 'empty', message: `the model gave no answer (${finish})` };
  return {
    reason: 'length',
    message: 'the model reached max_output_tokens before its answer began. Raise it, or lower effort',
  };
}

function tooManySteps({ maxSteps }: TurnLimits): { reason: TurnFailure; message: string } {
  return { reason: 'steps', message: `no answer after ${maxSteps} steps; max_steps sets how many a turn may take` };
}

function turnFailureOf(error: unknown): { reason: TurnFailure; message: string } {
  if (error instanceof ModelError) return { reason: error.reason, message: error.message };
  if (isStrataError(error, 'HOOK_FAILED')) return { reason: 'hook', message: error.message };
  if (isStrataError(error, 'WINDOW_TOO_SMALL')) return { reason: 'overflow', message: error.message };
  return { reason: 'internal', message: describe(error) };
}
