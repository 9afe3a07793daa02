import { describe, isStrataError, ModelError, type ModelFailure } from '../domain/errors.ts';
import { placeOf } from '../domain/key.ts';
import type { Conversation } from '../ports/store.ts';

/** What a failed run means for its model. */
export interface Failure {
  /** Caused by the model, so it counts for its breaker. */
  readonly isModels: boolean;
  readonly isAuth: boolean;
  /** The text of the conversation may be the cause, rather than the model. */
  readonly isTexts: boolean;
  readonly retryAfterMs: number | null;
  /** The model could not even be opened. */
  readonly modelId: string | null;
}

/**
 * The model is unavailable or overloaded, so another one may answer. A refusal, a rejected key or an unknown model does
 * not count.
 */
export function isOutage(error: unknown): error is ModelError {
  return error instanceof ModelError && OUTAGES.includes(error.reason);
}

const OUTAGES: readonly ModelFailure[] = ['transient', 'rate-limit', 'timeout'];

/** Every later call would be rejected too. */
const FINAL: readonly ModelFailure[] = ['auth', 'quota', 'missing'];

/** Another text might have been accepted. */
const TEXTS: readonly ModelFailure[] = ['fatal', 'refused'];

const OURS: Failure = { isModels: false, isAuth: false, isTexts: false, retryAfterMs: null, modelId: null };

const NOT_OPENED = ['MODEL_KEY_MISSING', 'MODEL_KEY_INVALID', 'MODEL_UNKNOWN'] as const;

export function failureOf(error: unknown): Failure {
  if (error instanceof ModelError) {
    const isModels = error.reason !== 'aborted' && error.reason !== 'overflow';
    const [isAuth, isTexts] = [FINAL.includes(error.reason), TEXTS.includes(error.reason)];
    return { ...OURS, isModels, isAuth, isTexts, retryAfterMs: error.retryAfterMs };
  }
  if (isStrataError(error, 'SUMMARY_REJECTED')) return { ...OURS, isModels: true, isTexts: true };
  for (const code of NOT_OPENED) {
    if (isStrataError(error, code)) return { ...OURS, isModels: true, isAuth: true, modelId: error.data.model };
  }
  return OURS;
}

/** What providers say about keys, credit and limits contains nothing of a request. */
const WITHOUT_QUOTES: readonly ModelFailure[] = [...FINAL, 'rate-limit'];

/** For every conversation that uses the model, so without what a provider may quote from the request of one of them. */
export function describeForAll(error: unknown): string {
  if (!(error instanceof ModelError) || WITHOUT_QUOTES.includes(error.reason)) return describe(error);
  const { model, reason } = error.data;
  return describe(new ModelError({ model, reason, detail: 'the log says why' }));
}

/** What the breaker counts of a failed job. */
export function seenOf({ isAuth, isTexts }: Failure, error: unknown, { key }: Pick<Conversation, 'key'>) {
  return { auth: isAuth, message: describeForAll(error), place: isTexts ? placeOf(key) : null };
}

export function isOverflow(error: unknown): error is ModelError {
  return error instanceof ModelError && error.reason === 'overflow';
}
