import { estimateRequest } from '../../context/measure/tokens.ts';
import { ModelError } from '../../domain/errors.ts';
import type { HookRunner } from '../../hooks/runner.ts';
import { billedUsage } from '../../models/billed.ts';
import { callHooked, type HookedCall } from '../../models/hooked-call.ts';
import { accepted, type BilledStep, collectStep, type Step } from '../../models/step.ts';
import { withinLimit } from '../../models/within-limit.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChatModel, ModelRequest, ModelUsage } from '../../ports/model.ts';
import { type Limit, limitWork } from '../../util/async/limit.ts';
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
  /** The same for a call without an answer, or with one that comes too late. The job may have ended. */
  onLost(usage: ModelUsage, durationMs: number): void;
}

/** One call with its timeout, which also applies to a model that ignores its signal. */
export async function callModel(context: CallContext, request: ModelRequest): Promise<Step> {
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

/**
 * Ends with the job, or after the timeout of the call, which the injected clock measures. It also ends if the clock fails:
 * nothing else would end a model that hangs.
 */
function limitCall({ model, clock, timeoutMs, signal }: CallContext): Pick<Limit, 'signal'> & Disposable {
  const limit = limitWork(signal);
  const done = new AbortController();
  const expire = () =>
    limit.abort(
      new ModelError({ model: model.id, reason: 'timeout', detail: `no answer within ${timeoutMs / 1000} s` }),
    );
  const failed = (error: unknown) => {
    if (!done.signal.aborted) limit.abort(error);
  };
  void clock.sleep(timeoutMs, { signal: done.signal }).then(expire, failed);
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
    const lost = (broken: BilledStep) => context.onLost(billedUsage(sent, broken), clock.now() - startedAt);
    const step = await collectStep(model, sent, { signal, onText: () => undefined, onLost: lost });
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
