import { REFUSED_RESULT } from '../../context/view/reduce.ts';
import { describe, isStoreAway, isStrataError, ModelError } from '../../domain/errors.ts';
import type { ToolResultPart } from '../../domain/message.ts';
import { cleanInput } from '../../models/call-input.ts';
import type { OnText, Step } from '../../models/step.ts';
import { withinLimit } from '../../models/within-limit.ts';
import type { Assembly } from '../../ports/engine.ts';
import type { TurnFailure } from '../../ports/events.ts';
import type { FinishReason, ModelMessage, ModelRequest, ToolCall, ToolResult } from '../../ports/model.ts';
import { inParallel } from '../../util/async/in-parallel.ts';
import type { Limit } from '../../util/async/limit.ts';
import { oneLine } from '../../util/text/foreign-text.ts';
import { cleanText, isVisible } from '../../util/text/text.ts';
import type { Cut } from './incomplete.ts';
import { createDraft, withoutOwnLabel } from './own-label.ts';

/** What the loop needs from outside, by owner. All effects are injected; the loop only decides. */
export interface TurnOptions extends TurnLimits, RequestEffects, ModelEffects, ToolEffects {}

export interface TurnLimits {
  readonly purpose: ModelRequest['purpose'];
  readonly modelId: string;
  readonly maxSteps: number;
  readonly maxOutputTokens: number;
}

/** The next request, and what makes it smaller. */
export interface RequestEffects {
  /** The gate: the next request, measured and within the window, ending with the turn's own steps. */
  assemble(steps: readonly ModelMessage[]): Promise<Assembly>;
  /** The provider rejected the size: frees space once. Returns false if nothing could be freed. */
  makeRoom(): Promise<boolean>;
  /**
   * The provider's filter refused the request: the next one leaves out more of the past. `nothing`: there is no more to
   * leave out. `unable`: the engine does not report what its request consists of.
   */
  leaveOut(refused: Assembly): 'less' | 'nothing' | 'unable';
}

export interface ModelEffects {
  /** Calls the model once. */
  ask(request: ModelRequest, options: AskOptions): Promise<Step>;
  /** Combines the time limit of one call and the end of the turn in one signal; disposed when the call ends. */
  limitCall(): Limit;
  /** Waits before a retry. Rejects if the turn must end. */
  pause(ms: number): Promise<void>;
  onDraft(text: string): void;
}

export interface AskOptions {
  /** What the request was made from. */
  readonly assembly: Assembly;
  readonly signal: AbortSignal;
  readonly onText: OnText;
}

export interface ToolEffects {
  /** Runs a call of one of these tools. */
  callTool(call: ToolCall, offered: Assembly['tools']): Promise<ToolResultPart>;
  /** Nothing of these results is sent or stored, nor what came with them. */
  withhold(results: readonly ToolResultPart[]): void;
}

export type TurnOutcome = AnsweredTurn | FailedTurn;

export interface AnsweredTurn {
  readonly kind: 'answered';
  readonly text: string;
  /** Why the text is not whole; null if it is. */
  readonly cut: Cut | null;
  readonly steps: readonly TurnStep[];
}

export interface FailedTurn {
  readonly kind: 'failed';
  readonly reason: TurnFailure;
  readonly message: string;
  readonly steps: readonly TurnStep[];
}

/** A finished round of the tool loop: the model's text and calls, and their results. */
export interface TurnStep {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResultPart[];
}

/**
 * One turn: alternates model and tools until there is an answer. Rejects only before the first tool call, if the store
 * is unavailable or too many messages wait. The turn can then be tried again; later, that would repeat the tool call.
 */
export async function runTurn(options: TurnOptions, callIdPrefix: string): Promise<TurnOutcome> {
  const steps: TurnStep[] = [];
  let hasCalledTools = false;
  try {
    for (;;) {
      const { step, assembly } = await callModel(options, steps);
      // The next step reads exactly what will be stored.
      const text = withoutOwnLabel(cleanText(step.text).trim());
      if (step.calls.length === 0) {
        const answer = isSilent(step) ? (steps.at(-1)?.text ?? '') : text;
        if (isVisible(answer)) return { kind: 'answered', text: answer, cut: cutOf(step.finish), steps };
        return { kind: 'failed', ...unanswered(step.finish), steps };
      }
      // Not every server heeds the choice of tools. Nobody would read the results.
      if (isLastStep(options, steps)) break;
      hasCalledTools = true;
      const round = { text, calls: step.calls, offered: assembly.tools };
      steps.push(await callTools(options, round, `${callIdPrefix}.${steps.length + 1}`));
    }
    const message = `no answer after ${options.maxSteps} steps; max_steps sets how many a turn may take`;
    return { kind: 'failed', reason: 'steps', message, steps };
  } catch (error) {
    if (!hasCalledTools && (isStoreAway(error) || isStrataError(error, 'TOO_MANY_WAITING'))) throw error;
    return { kind: 'failed', ...turnFailureOf(error), steps };
  }
}

/** The model has to answer now. */
function isLastStep({ maxSteps }: TurnLimits, done: readonly TurnStep[]): boolean {
  return done.length + 1 >= maxSteps;
}

function cutOf(finish: FinishReason): Cut | null {
  return finish === 'length' || finish === 'filtered' ? finish : null;
}

/** The model ended by itself without a word: by chance, or because it had said everything beside its last calls. */
function isSilent({ text, calls, finish }: Step): boolean {
  return calls.length === 0 && finish !== 'length' && finish !== 'filtered' && !isVisible(cleanText(text));
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

/** Calls the model until it answers, or until a failure or a silence is not worth another request. */
async function callModel(options: TurnOptions, done: TurnStep[]): Promise<{ step: Step; assembly: Assembly }> {
  const tried: Tried = { overflows: 0, refusals: 0, pauses: 0, silences: 0 };
  for (;;) {
    const assembly = await options.assemble(done.flatMap(toMessages));
    const asked = await askOnce(options, assembly, isLastStep(options, done) ? { toolChoice: 'none' } : {});
    if (asked.kind === 'answered') {
      if (!isSilent(asked.step) || tried.silences >= MAX_SILENCES) return { step: asked.step, assembly };
      tried.silences += 1;
    } else if (!(await recover(options, done, { ...asked, assembly, tried }))) throw asked.error;
  }
}

type Asked =
  | { readonly kind: 'answered'; readonly step: Step }
  /** `begun`: there was a beginning of an answer. */
  | { readonly kind: 'failed'; readonly error: ModelError; readonly begun: boolean };

async function askOnce(
  options: TurnOptions,
  assembly: Assembly,
  choice: Pick<ModelRequest, 'toolChoice'>,
): Promise<Asked> {
  const request = {
    purpose: options.purpose,
    ...requestOf(assembly),
    ...choice,
    maxOutputTokens: options.maxOutputTokens,
    json: false,
    windowTokens: assembly.measurement.window,
  } as const;
  let begun = false;
  const draftOf = createDraft();
  using limit = options.limitCall();
  const onText: OnText = (text, added) => {
    if (limit.signal.aborted) return;
    const draft = draftOf(text, added);
    if (draft === '') return;
    begun = true;
    options.onDraft(draft);
  };
  try {
    const ask = (signal: AbortSignal) => options.ask(request, { assembly, signal, onText });
    return { kind: 'answered', step: await withinLimit(limit.signal, options.modelId, ask) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { kind: 'failed', error, begun };
  }
}

/** A request that failed. */
type Failed = Extract<Asked, { kind: 'failed' }> & { readonly assembly: Assembly };

/** How often each remedy was tried for one step. */
interface Tried {
  overflows: number;
  refusals: number;
  pauses: number;
  silences: number;
}

const MAX_OVERFLOWS = 1;
const MAX_REFUSALS = 2;
const MAX_PAUSES = 2;
const MAX_SILENCES = 1;

/**
 * Prepares another request: an emergency cut after an overflow, less of the past after a filter, a pause after a passing
 * failure. The next answer replaces what is shown of this one. Returns false if another request would not help.
 */
async function recover(
  options: TurnOptions,
  done: TurnStep[],
  { error, begun, assembly, tried }: Failed & { readonly tried: Tried },
): Promise<boolean> {
  if (error.reason === 'overflow' && tried.overflows < MAX_OVERFLOWS) {
    tried.overflows += 1;
    if (await options.makeRoom()) return true;
  }
  // A filter that stops the answer has let the request through.
  if (error.reason === 'refused' && !begun && tried.refusals < MAX_REFUSALS) {
    tried.refusals += 1;
    return leaveOutMore(options, done, { error, assembly });
  }
  if (tried.pauses >= MAX_PAUSES || !isPassing(error)) return false;
  await options.pause(error.retryAfterMs ?? 1000 * 2 ** tried.pauses);
  tried.pauses += 1;
  return true;
}

/**
 * Leaves out what was added last, because the request before it was accepted: the results of the last tools or, without
 * any, what people had said earlier. The results are withheld for good, so no tool runs twice, and the stored turn is
 * what the model read. Returns false if only the newest message can be the cause.
 */
function leaveOutMore(
  options: TurnOptions,
  done: TurnStep[],
  { error, assembly }: Pick<Failed, 'error' | 'assembly'>,
): boolean {
  const last = done.at(-1);
  if (last?.results.some(({ text }) => text !== REFUSED_RESULT)) {
    done[done.length - 1] = { ...last, results: last.results.map(withheld) };
    options.withhold(last.results);
    return true;
  }
  const left = options.leaveOut(assembly);
  if (left === 'unable') throw new ModelError({ ...error.data, reason: 'fatal' }, { cause: error });
  return left === 'less';
}

function withheld(result: ToolResultPart): ToolResultPart {
  return { ...result, text: REFUSED_RESULT, isError: true, blob: null };
}

function requestOf(assembly: Assembly): Pick<Assembly, 'system' | 'messages' | 'tools'> {
  return { system: assembly.system, messages: assembly.messages, tools: assembly.tools };
}

/** A failure that a pause may cure, if the pause is so short that the bot does not seem frozen. */
function isPassing(error: ModelError): boolean {
  return (error.reason === 'transient' || error.reason === 'rate-limit') && (error.retryAfterMs ?? 0) <= 10_000;
}

/** A model may call many tools in one step; other conversations must not wait for all of them. */
const MAX_CALLS_AT_ONCE = 8;
/** The name of a tool is shorter; a model may make up any. */
const MAX_NAME_LENGTH = 100;

/**
 * The calls of a step run concurrently. Their ids are Strata's own, so duplicate ids of a provider are harmless. Their
 * properties have the order of stored calls, so that the hash of the request is that of the rebuilt one.
 */
async function callTools(
  options: TurnOptions,
  { text, calls: asked, offered }: Pick<Step, 'text' | 'calls'> & { readonly offered: Assembly['tools'] },
  prefix: string,
): Promise<TurnStep> {
  const calls = asked.map(({ tool, input }, index) => {
    return { callId: `${prefix}.${index + 1}`, tool: oneLine(tool).slice(0, MAX_NAME_LENGTH).toWellFormed(), input };
  });
  const results = await inParallel(calls, MAX_CALLS_AT_ONCE, (call) => options.callTool(call, offered));
  return {
    text,
    calls: calls.map((call) => ({ ...call, input: cleanInput(call.input) })),
    results: results.map((result) => ({ ...result, text: cleanText(result.text) })),
  };
}

function toMessages(step: TurnStep): readonly ModelMessage[] {
  return [
    { role: 'assistant', text: step.text, calls: step.calls },
    { role: 'tool', results: step.results.map(toResult) },
  ];
}

function toResult({ callId, tool, text, isError }: ToolResultPart): ToolResult {
  return { callId, tool, text, isError };
}

function turnFailureOf(error: unknown): { reason: TurnFailure; message: string } {
  if (error instanceof ModelError) return { reason: error.reason, message: error.message };
  if (isStrataError(error, 'HOOK_FAILED')) return { reason: 'hook', message: error.message };
  if (isStrataError(error, 'WINDOW_TOO_SMALL')) return { reason: 'overflow', message: error.message };
  return { reason: 'internal', message: describe(error) };
}
