import type { ToolResultPart } from '../../../domain/message.ts';
import { cleanInput } from '../../../models/call-input.ts';
import type { Step } from '../../../models/step.ts';
import type { Assembly } from '../../../ports/engine.ts';
import type { ModelMessage, ToolResult } from '../../../ports/model.ts';
import { inParallel } from '../../../util/async/in-parallel.ts';
import { oneLine } from '../../../util/text/foreign-text.ts';
import { cleanText } from '../../../util/text/text.ts';
import type { ToolEffects } from './effects.ts';
import type { TurnStep } from './outcome.ts';

/** A model may call many tools in one step; other conversations must not wait for all of them. */
const MAX_CALLS_AT_ONCE = 8;
/** The name of a tool is shorter; a model may make up any. */
const MAX_NAME_LENGTH = 100;

/**
 * The calls of a step run concurrently. Their ids are Strata's own, so duplicate ids of a provider are harmless. Their
 * properties have the order of stored calls, so that the hash of the request is that of the rebuilt one.
 */
export async function callTools(
  options: ToolEffects,
  { text, calls: asked, reasoning, offered }: Omit<Step, 'finish' | 'usage'> & { readonly offered: Assembly['tools'] },
  prefix: string,
): Promise<TurnStep> {
  const calls = asked.map(({ tool, input }, index) => {
    return { callId: `${prefix}.${index + 1}`, tool: oneLine(tool).slice(0, MAX_NAME_LENGTH).toWellFormed(), input };
  });
  // A copy from before, because a tool may change the objects of its input, even to values that cannot be stored.
  const kept = calls.map((call) => ({ ...call, input: cleanInput(call.input) }));
  const results = await inParallel(calls, MAX_CALLS_AT_ONCE, (call) => options.callTool(call, offered));
  return {
    text,
    calls: kept,
    results: results.map((result) => ({ ...result, text: cleanText(result.text) })),
    reasoning,
  };
}

export function toMessages(step: TurnStep): readonly ModelMessage[] {
  return [toAssistant(step), { role: 'tool', results: step.results.map(toResult) }];
}

export function toAssistant({ text, calls }: TurnStep): ModelMessage {
  return { role: 'assistant', text, calls };
}

function toResult({ callId, tool, text, isError }: ToolResultPart): ToolResult {
  return { callId, tool, text, isError };
}
