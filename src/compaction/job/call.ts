import { estimateRequest } from '../../context/measure/tokens.ts';
import { ModelError } from '../../domain/errors.ts';
import type { HookRunner } from '../../hooks/runner.ts';
import { billedUsage } from '../../models/billed.ts';
import { callHooked, type HookedCall } from '../../models/hooked-call.ts';
import { accepted, collectStep, type Step } from '../../models/step.ts';
import { withinLimit } from '../../models/within-limit.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  ChatModel,
  FinishReason,
  ModelMessage,
  ModelPurpose,
  ModelRequest,
  ModelUsage,
  ToolCall,
  ToolSpec,
} from '../../ports/model.ts';
import type { RenderedPrompt } from '../../prompts/variables.ts';
import { type Limit, limitWork } from '../../util/work/limit.ts';
import { type Answer, NO_ANSWER, SUMMARY_TOOL } from '../answer/answer.ts';
import { collectCall } from '../answer/collect-call.ts';
import { plainAnswer, readText } from '../answer/read-answer.ts';
import { learnReasoning, reasoningRoom, type SeenReasoning } from './reasoning.ts';

export interface CallContext {
  readonly model: ChatModel;
  readonly clock: Clock;
  /** Window of the called model. */
  readonly windowTokens: number;
  /** Timeout of each single model call. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Models that turned out not to support tools. Grows. */
  readonly toolless: Set<string>;
  /** Ask for JSON although the model has tools, because earlier attempts failed. */
  readonly avoidsTools: boolean;
  readonly hooks: Pick<HookRunner, 'model'>;
  readonly where: HookedCall['where'];
  /** What the operator sets for all calls. */
  readonly settings: Pick<ModelRequest, 'effort' | 'providerOptions'>;
  readonly reasoning: SeenReasoning;
  /** Called before every model call. Rejects if what the call repeats has been edited or deleted. Default: does nothing. */
  assertCurrent?(): Promise<void>;
  /** Called after every model call, to record its cost. */
  onStep(usage: ModelUsage, durationMs: number): void;
}

export interface Ask {
  readonly purpose: Exclude<ModelPurpose, 'reply' | 'child' | 'rerun'>;
  /** The instructions, for a model with tools or for one that answers with JSON. */
  prompt(tools: boolean): RenderedPrompt;
  readonly transcript: string;
  /** Empty if the answer is plain text. */
  readonly tools: readonly ToolSpec[];
  /** For the answer alone; room for reasoning is added where the model reasons. */
  readonly maxOutputTokens: number;
}

export interface AskResult {
  readonly answer: Answer;
  /** How the call that returned the summary ended. */
  readonly finish: FinishReason;
  readonly prompt: RenderedPrompt;
}

const MAX_STEPS = 10;
/** A shorter text next to memory calls only comments on them; a longer one is the summary itself. */
const MIN_TEXT_SUMMARY = 200;
const NUDGE = 'The summary is still missing. Call summary_save now, with its whole text.';

/** Asks in a form the model supports: tools, else one JSON object, else plain text. */
export async function ask(context: CallContext, question: Ask): Promise<AskResult> {
  if (question.tools.length === 0) return await askPlainly(context, question);
  const { model, toolless, avoidsTools } = context;
  if (!model.traits.tools || toolless.has(model.id)) return await askForJson(context, question);
  const asked = avoidsTools ? await askForJson(context, question) : null;
  // The earlier failures may have been an outage, and a bare text has no memories.
  if (asked !== null && !isBare(asked)) return asked;
  try {
    return await askWithTools(context, question);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    // The server answers without tools, so they are the cause.
    if (asked !== null) return asked;
    if (error.reason !== 'unsupported') throw error;
    toolless.add(model.id);
    return await askForJson(context, question);
  }
}

function isBare({ answer: { summary, candidates }, finish }: AskResult): boolean {
  return finish === 'stop' && summary !== null && candidates.length === 0;
}

async function askPlainly(context: CallContext, question: Ask): Promise<AskResult> {
  const prompt = question.prompt(false);
  const step = await callModel(context, requestOf(question, prompt, { messages: [userText(question.transcript)] }));
  return { ...readStep(step, question), prompt };
}

async function askForJson(context: CallContext, question: Ask): Promise<AskResult> {
  const prompt = question.prompt(false);
  const messages = [userText(question.transcript)];
  const step = await callModel(context, { ...requestOf(question, prompt, { messages }), tools: [], json: true });
  return { ...readStep(step, question), prompt };
}

/** The exchange with a model that calls tools: its messages so far, and what they have saved. */
interface Exchange {
  readonly messages: ModelMessage[];
  /** Text the model wrote next to or after its calls. */
  readonly texts: { readonly text: string; readonly finish: FinishReason }[];
  answer: Answer;
  wasNudged: boolean;
}

/** Calls the model until it stops or adds nothing new. Keeps everything it called, in any order. */
async function askWithTools(context: CallContext, question: Ask): Promise<AskResult> {
  const prompt = question.prompt(true);
  const exchange: Exchange = {
    messages: [userText(question.transcript)],
    texts: [],
    answer: NO_ANSWER,
    wasNudged: false,
  };
  for (let count = 1; count <= MAX_STEPS; count += 1) {
    const request = requestOf(question, prompt, exchange);
    // The transcript was cut to fit the window; the model's own calls and results come on top.
    if (count > 1 && !fits(context, request)) break;
    const step = await nextStep(context, request, exchange);
    if (step === null) break;
    exchange.texts.push({ text: plainAnswer(step.text), finish: step.finish });
    const goesOn =
      step.calls.length > 0 ? takeCalls(exchange, step, count) : askForMissingSummary(exchange, question, step);
    if (!goesOn) break;
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

/**
 * Returns false when the exchange is complete. The prompt asks for the summary last: another step would read the whole
 * transcript again.
 */
function takeCalls(exchange: Exchange, step: Step, count: number): boolean {
  const before = exchange.answer;
  const calls = step.calls.map((call, index): ToolCall => ({ ...call, callId: `c${count}.${index + 1}` }));
  const results = calls.map((call) => {
    const { answer, receipt, isTaken } = collectCall(exchange.answer, call);
    exchange.answer = answer;
    return { callId: call.callId, tool: call.tool, text: receipt, isError: !isTaken };
  });
  exchange.messages.push({ role: 'assistant', text: step.text, calls }, { role: 'tool', results });
  const isComplete = exchange.answer.summary !== null && calls.some((call) => call.tool === SUMMARY_TOOL.name);
  return !isComplete && exchange.answer !== before;
}

/**
 * After memory calls alone, a text such as "saved four memories" is not a summary, so the model is asked for it, once.
 * Returns false if there is nothing to ask for.
 */
function askForMissingSummary(exchange: Exchange, question: Ask, step: Step): boolean {
  const wantsSummary = question.tools.includes(SUMMARY_TOOL) && exchange.answer.summary === null;
  const hasCalled = exchange.messages.length > 1;
  const hasText = exchange.texts.some(({ text }) => text.length >= MIN_TEXT_SUMMARY);
  if (!wantsSummary || !hasCalled || hasText || exchange.wasNudged || step.text.trim() === '') return false;
  exchange.wasNudged = true;
  exchange.messages.push({ role: 'assistant', text: step.text, calls: [] }, userText(NUDGE));
  return true;
}

/** A summary saved by a call wins; otherwise the longest text is the summary. */
function resultOf({ answer, texts }: Exchange, question: Ask): Pick<AskResult, 'answer' | 'finish'> {
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

/** A summary in JSON that was cut off after it is complete. Some models call tools that were not offered. */
function readStep(
  { text, finish, calls = [] }: ReadableStep,
  { transcript }: Pick<Ask, 'transcript'>,
): Pick<AskResult, 'answer' | 'finish'> {
  const called = calls.reduce((answer, call) => collectCall(answer, call).answer, NO_ANSWER);
  if (called.summary !== null || called.candidates.length > 0) return { answer: called, finish: 'tool-calls' };
  const { answer, isJson } = readText(text, transcript);
  const isWhole = finish === 'length' && isJson && answer.summary !== null;
  return { answer, finish: isWhole ? 'stop' : finish };
}

type ReadableStep = Pick<Step, 'text' | 'finish'> & Partial<Pick<Step, 'calls'>>;

function userText(text: string): ModelMessage {
  return { role: 'user', content: [{ kind: 'text', text }] };
}

function requestOf(
  question: Ask,
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

/** One call with its timeout, which also applies to a model that ignores its signal. */
async function callModel(context: CallContext, request: ModelRequest): Promise<Step> {
  const { model, signal } = context;
  await context.assertCurrent?.();
  // A stop before the call has no event, and the model may ignore its signal.
  signal.throwIfAborted();
  using limit = limitCall(context);
  try {
    return accepted(model, await withinLimit(limit.signal, model.id, (within) => send(context, request, within)));
  } catch (error) {
    // A model that was told to stop may fail with anything.
    throw limit.signal.aborted ? limit.signal.reason : error;
  }
}

/** Ends with the job, or after the timeout of the call, which the injected clock measures. */
function limitCall({ model, clock, timeoutMs, signal }: CallContext): Pick<Limit, 'signal'> & Disposable {
  const limit = limitWork(signal);
  const done = new AbortController();
  const expire = () =>
    limit.abort(
      new ModelError({ model: model.id, reason: 'timeout', detail: `no answer within ${timeoutMs / 1000} s` }),
    );
  void clock.sleep(timeoutMs, { signal: done.signal }).then(expire, () => undefined);
  return {
    signal: limit.signal,
    [Symbol.dispose]() {
      limit[Symbol.dispose]();
      done.abort();
    },
  };
}

async function send(context: CallContext, request: ModelRequest, signal: AbortSignal): Promise<Step> {
  const { model, clock, hooks, where, settings, windowTokens } = context;
  const asked = { ...withReasoning(context, request), ...settings, windowTokens };
  return await callHooked(hooks, { where, request: asked, signal }, async (sent) => {
    const startedAt = clock.now();
    const step = await collectStep(model, sent, { signal, onText: () => undefined });
    learnReasoning(context, step);
    if (!signal.aborted) context.onStep(billedUsage(sent, step), clock.now() - startedAt);
    return step;
  });
}

/** As much room for reasoning as the window has left. */
function withReasoning(context: CallContext, request: ModelRequest): ModelRequest {
  const left = context.windowTokens - estimateRequest(request) - request.maxOutputTokens;
  const room = Math.max(0, Math.min(reasoningRoom(context), left));
  return { ...request, maxOutputTokens: request.maxOutputTokens + room };
}
