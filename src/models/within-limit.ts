import { describe, ModelError } from '../domain/errors.ts';
import { rejection } from '../util/async/limit.ts';

/** Ends work of a model with its limit, so that a model that ignores its signal does not freeze the conversation. */
export async function withinLimit<Result>(
  signal: AbortSignal,
  model: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = rejection(signal).catch((cause: unknown): never => {
    const isLate = cause instanceof DOMException && cause.name === 'TimeoutError';
    throw new ModelError({ model, reason: isLate ? 'timeout' : 'aborted', detail: describe(cause) });
  });
  return await Promise.race([work(signal), ended]);
}
