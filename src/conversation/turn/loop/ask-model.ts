import { REFUSED_RESULT } from '../../../context/view/reduce.ts';
import { ModelError } from '../../../domain/errors.ts';
import type { ToolResultPart } from '../../../domain/message.ts';
import type { OnText, Step } from '../../../models/step.ts';
import { withinLimit } from '../../../models/within-limit.ts';
import type { Assembly } from '../../../ports/engine.ts';
import type { ModelRequest } from '../../../ports/model.ts';
import { cleanText, isVisible } from '../../../util/text/text.ts';
import type { TurnLimits, TurnOptions } from './effects.ts';
import type { TurnStep } from './outcome.ts';
import { createDraft } from './own-label.ts';
import { dropReasoning, fitReasoning, reasonedIn } from './step-reasoning.ts';
import { toMessages } from './tool-round.ts';

/**
 * Calls the model until it answers, or until a failure or a silence is not worth another request. `before` is what the
 * step before was asked with.
 */
export async function callModel(
  options: TurnOptions,
  done: TurnStep[],
  before: Assembly | null,
): Promise<{ step: Step; assembly: Assembly }> {
  const tried: Tried = { overflows: 0, refusals: 0, pauses: 0, silences: 0 };
  for (;;) {
    const assembly = await options.assemble(done.flatMap(toMessages));
    fitReasoning(done, assembly, before);
    const asked = await askOnce(options, assembly, done);
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

async function askOnce(options: TurnOptions, assembly: Assembly, done: readonly TurnStep[]): Promise<Asked> {
  const request: ModelRequest = {
    purpose: options.purpose,
    ...requestOf(assembly),
    ...(isLastStep(options, done) ? { toolChoice: 'none' } : {}),
    maxOutputTokens: options.maxOutputTokens,
    json: false,
    windowTokens: assembly.measurement.window,
  };
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
    const reasoned = reasonedIn(done);
    const ask = (signal: AbortSignal) => options.ask(request, { assembly, reasoned, signal, onText });
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
 * Prepares another request: without reasoning or with an emergency cut after an overflow, with less of the past after a
 * filter, after a pause if the failure passes. The next answer replaces what is shown of this one. Returns false if
 * another request would not help.
 */
async function recover(
  options: TurnOptions,
  done: TurnStep[],
  { error, begun, assembly, tried }: Failed & { readonly tried: Tried },
): Promise<boolean> {
  if (error.reason === 'overflow' && dropReasoning(done, error.data)) return true;
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
 * Leaves out what was added last, because the request before it was accepted: the results of the last tools, with the
 * reasoning before their calls, or, without any, what people had said earlier. The results are withheld for good, so no
 * tool runs twice, and the stored turn is what the model read. Returns false if only the newest message can be the cause.
 */
function leaveOutMore(
  options: TurnOptions,
  done: TurnStep[],
  { error, assembly }: Pick<Failed, 'error' | 'assembly'>,
): boolean {
  const last = done.at(-1);
  if (last?.results.some(({ text }) => text !== REFUSED_RESULT)) {
    done[done.length - 1] = { ...last, results: last.results.map(withheld), reasoning: null };
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

/** The model has to answer now. */
export function isLastStep({ maxSteps }: TurnLimits, done: readonly TurnStep[]): boolean {
  return done.length + 1 >= maxSteps;
}

/** The model ended by itself without a word: by chance, or because it had said everything beside its last calls. */
export function isSilent({ text, calls, finish }: Step): boolean {
  return calls.length === 0 && finish !== 'length' && finish !== 'filtered' && !isVisible(cleanText(text));
}
