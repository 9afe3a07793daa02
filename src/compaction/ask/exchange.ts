import { estimateRequest } from '../../context/measure/tokens.ts';
import type { Step } from '../../models/step.ts';
import type { FinishReason, ModelMessage, ModelRequest, ToolCall } from '../../ports/model.ts';
import { type Answer, NO_ANSWER, SUMMARY_TOOL } from '../answer/answer.ts';
import { collectCall } from '../answer/collect-call.ts';
import { plainAnswer } from '../answer/read-answer.ts';
import { type CallContext, callModel } from './call.ts';
import { type Answered, type Question, readStep, requestOf, userText } from './question.ts';

const MAX_STEPS = 10;
/** A shorter text next to memory calls only comments on them; a longer one is the summary itself. */
const MIN_TEXT_SUMMARY = 200;
const NUDGE = 'The summary is still missing. Call summary_save now, with its whole text.';

/** The exchange with a model that calls tools: its messages so far, and what they have saved. */
interface Exchange {
  readonly messages: readonly ModelMessage[];
  /** Text the model wrote next to or after its calls. */
  readonly texts: readonly { readonly text: string; readonly finish: FinishReason }[];
  readonly answer: Answer;
  readonly wasNudged: boolean;
  /** Another step would add nothing. */
  readonly isComplete: boolean;
}

/** Calls the model until it stops or adds nothing new. Keeps everything it called, in any order. */
export async function askWithTools(context: CallContext, question: Question): Promise<Answered> {
  const prompt = question.prompt(true);
  const messages = [userText(question.transcript)];
  let exchange: Exchange = { messages, texts: [], answer: NO_ANSWER, wasNudged: false, isComplete: false };
  for (let count = 1; count <= MAX_STEPS && !exchange.isComplete; count += 1) {
    const request = requestOf(question, prompt, exchange);
    // The transcript was cut to fit the window; the model's own calls and results come on top.
    if (count > 1 && !fits(context, request)) break;
    const step = await nextStep(context, request, exchange);
    if (step === null) break;
    const heard = withText(exchange, step);
    exchange = step.calls.length > 0 ? afterCalls(heard, step, count) : afterText(heard, question, step);
  }
  return { ...resultOf(exchange, question), prompt };
}

function fits({ windowTokens }: CallContext, request: ModelRequest): boolean {
  return estimateRequest(request) + request.maxOutputTokens <= windowTokens;
}

/** Null if the model failed after its summary was received: nothing else is needed. */
async function nextStep(context: CallContext, request: ModelRequest, exchange: Exchange): Promise<Step | null> {
  try {
    return await callModel(context, request);
  } catch (error) {
    if (exchange.answer.summary === null || context.signal.aborted) throw error;
    return null;
  }
}

function withText(exchange: Exchange, { text, finish }: Step): Exchange {
  return { ...exchange, texts: [...exchange.texts, { text: plainAnswer(text), finish }] };
}

/** The prompt asks for the summary last: after it, another step would read the whole transcript again. */
function afterCalls(exchange: Exchange, step: Step, count: number): Exchange {
  let { answer } = exchange;
  const calls = step.calls.map((call, index): ToolCall => ({ ...call, callId: `c${count}.${index + 1}` }));
  const results = calls.map((call) => {
    const collected = collectCall(answer, call);
    answer = collected.answer;
    return { callId: call.callId, tool: call.tool, text: collected.receipt, isError: !collected.isTaken };
  });
  const isSummarised = answer.summary !== null && calls.some((call) => call.tool === SUMMARY_TOOL.name);
  const added: ModelMessage[] = [
    { role: 'assistant', text: step.text, calls },
    { role: 'tool', results },
  ];
  const isComplete = isSummarised || answer === exchange.answer;
  return { ...exchange, answer, messages: [...exchange.messages, ...added], isComplete };
}

/** After memory calls alone, a text such as "saved four memories" is not a summary, so the model is asked for it, once. */
function afterText(exchange: Exchange, question: Question, { text }: Step): Exchange {
  const { messages, texts, answer, wasNudged } = exchange;
  const wantsSummary = question.tools.includes(SUMMARY_TOOL) && answer.summary === null;
  const hasCalled = messages.length > 1;
  const hasText = texts.some((written) => written.text.length >= MIN_TEXT_SUMMARY);
  if (!wantsSummary || !hasCalled || hasText || wasNudged || text.trim() === '')
    return { ...exchange, isComplete: true };
  const nudge: ModelMessage[] = [{ role: 'assistant', text, calls: [] }, userText(NUDGE)];
  return { ...exchange, messages: [...messages, ...nudge], wasNudged: true };
}

/** A summary saved by a call wins; otherwise the longest text is the summary. */
function resultOf({ answer, texts }: Exchange, question: Question): Pick<Answered, 'answer' | 'finish'> {
  if (answer.summary !== null) return { answer, finish: 'tool-calls' };
  let longest: Exchange['texts'][number] | undefined;
  for (const written of texts) {
    // Of equally long ones the last, because its call ended the exchange.
    if (longest === undefined || written.text.length >= longest.text.length) longest = written;
  }
  if (longest === undefined) return { answer, finish: 'other' };
  const { answer: read, finish } = readStep(longest, question);
  return {
    answer: {
      summary: read.summary,
      candidates: [...answer.candidates, ...read.candidates],
      problems: [...answer.problems, ...read.problems],
    },
    finish,
  };
}
