import type { Step } from '../../models/step.ts';
import type { FinishReason, ModelMessage, ModelPurpose, ModelRequest, ToolSpec } from '../../ports/model.ts';
import type { RenderedPrompt } from '../../prompts/variables.ts';
import { type Answer, NO_ANSWER } from '../answer/answer.ts';
import { collectCall } from '../answer/collect-call.ts';
import { readText } from '../answer/read-answer.ts';

/** What a job asks a model for. */
export interface Question {
  readonly purpose: Exclude<ModelPurpose, 'reply' | 'child' | 'rerun'>;
  /** The instructions, for a model with tools or for one that answers with JSON. */
  prompt(tools: boolean): RenderedPrompt;
  readonly transcript: string;
  /** Empty if the answer is plain text. */
  readonly tools: readonly ToolSpec[];
  /** For the answer alone; room for reasoning is added where the model reasons. */
  readonly maxOutputTokens: number;
}

/** What the model answered, and how it was asked. */
export interface Answered {
  readonly answer: Answer;
  /** How the call that returned the summary ended. */
  readonly finish: FinishReason;
  readonly prompt: RenderedPrompt;
}

export function userText(text: string): ModelMessage {
  return { role: 'user', content: [{ kind: 'text', text }] };
}

export function requestOf(
  question: Question,
  prompt: RenderedPrompt,
  { messages }: { readonly messages: readonly ModelMessage[] },
): ModelRequest {
  return {
    purpose: question.purpose,
    system: [{ text: prompt.text, cacheBreak: false }],
    messages: [...messages],
    tools: question.tools,
    maxOutputTokens: question.maxOutputTokens,
    json: false,
  };
}

/** A summary in JSON that was cut off after it is complete. Some models call tools that were not offered. */
export function readStep(
  { text, finish, calls = [] }: ReadableStep,
  { transcript }: Pick<Question, 'transcript'>,
): Pick<Answered, 'answer' | 'finish'> {
  const called = calls.reduce((answer, call) => collectCall(answer, call).answer, NO_ANSWER);
  if (called.summary !== null || called.candidates.length > 0) return { answer: called, finish: 'tool-calls' };
  const { answer, isJson } = readText(text, transcript);
  const isWhole = finish === 'length' && isJson && answer.summary !== null;
  return { answer, finish: isWhole ? 'stop' : finish };
}

type ReadableStep = Pick<Step, 'text' | 'finish'> & Partial<Pick<Step, 'calls'>>;
