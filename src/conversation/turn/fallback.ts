import type { ModelError } from '../../domain/errors.ts';
import type { Breaker } from '../../models/breaker.ts';
import { describeForAll, isOutage } from '../../models/failure.ts';
import type { Step } from '../../models/step.ts';
import { withinLimit } from '../../models/within-limit.ts';
import type { ChatModel } from '../../ports/model.ts';
import { limitWork } from '../../util/async/limit.ts';

export interface Candidates {
  /** In the order in which they are tried. */
  readonly models: readonly ChatModel[];
  readonly breaker: Breaker;
  /** Time limit of each model. */
  readonly timeoutMs: number;
  /** Called before the next one is tried. */
  onFallback(from: ChatModel, to: ChatModel, error: ModelError): void;
}

/** The last model ends by its own limit. This is left for its hooks, and for a model that does not let go. */
export const GRACE_MS = 1_000;

/**
 * Calls a model once. With a `limitMs`, the text written by then becomes the answer: without one, the next model may still
 * give a complete one.
 */
type Call = (model: ChatModel, signal: AbortSignal, limitMs: number | undefined) => Promise<Step>;

/**
 * The answer of the first model that is available and not overloaded. Skips paused models, unless all are paused. Does
 * not ask the next model for what one refuses or cannot do.
 */
export async function askInOrder(
  { models, breaker, timeoutMs, onFallback }: Candidates,
  signal: AbortSignal,
  call: Call,
): Promise<Step> {
  const [only, ...others] = models;
  if (only !== undefined && others.length === 0) return await call(only, signal, timeoutMs);
  const open = await notPaused(models, breaker);
  for (const [index, model] of open.entries()) {
    const next = open[index + 1];
    const limitMs = next === undefined ? timeoutMs : undefined;
    using limit = limitWork(signal, { ms: next === undefined ? timeoutMs + GRACE_MS : timeoutMs });
    try {
      const step = await withinLimit(limit.signal, model.id, (within) => call(model, within, limitMs));
      await breaker.succeeded(model.id);
      return step;
    } catch (error) {
      if (signal.aborted || !isOutage(error)) throw error;
      await breaker.failed(model.id, { auth: false, message: describeForAll(error), place: null });
      if (next === undefined) throw error;
      onFallback(model, next, error);
    }
  }
  throw new Error('The agent has no model.');
}

async function notPaused(models: readonly ChatModel[], breaker: Breaker): Promise<readonly ChatModel[]> {
  const pauses = await Promise.all(models.map(({ id }) => breaker.pausedUntil(id)));
  const open = models.filter((_, index) => pauses[index] === null);
  return open.length === 0 ? models : open;
}
