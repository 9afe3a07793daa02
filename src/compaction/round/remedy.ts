import { ModelError } from '../../domain/errors.ts';
import { failureOf, isOverflow } from '../../models/failure.ts';
import type { CallContext } from '../ask/call.ts';
import type { Job } from '../job/job.ts';
import { isRequestedRewrite, type Work } from '../job/next-work.ts';
import { MIN_SPAN_TOKENS } from '../job/span.ts';
import type { Doubt } from './progress.ts';

/** What may make the next attempt succeed after a model has failed. */
export type Remedy =
  | { readonly kind: 'read less'; readonly headTokens: number; readonly doubt: Doubt }
  | { readonly kind: 'leave out' }
  /** The window of the model is smaller than assumed. */
  | { readonly kind: 'assume window'; readonly windowTokens: number }
  /** The work must be tried again later. */
  | { readonly kind: 'none' };

/** The job that failed, and what is known of its model. */
export interface FailedJob {
  readonly job: Pick<Job, 'conversation' | 'headTokens'> & { readonly call: Pick<CallContext, 'windowTokens'> };
  readonly work: Work;
  readonly doubt: Doubt;
}

/** A model with a smaller window cannot summarise anything. */
const MIN_WINDOW = 500;

/** Decides what to do about a failure. Pure. */
export function remedyFor(error: unknown, failed: FailedJob): Remedy {
  if (canReadFaster(error, failed)) return { kind: 'read less', headTokens: fastHead(failed.job), doubt: failed.doubt };
  if (mayBeTheText(error, failed)) return afterRefusal(failed);
  if (!isOverflow(error)) return { kind: 'none' };
  const windowTokens = smallerWindow(failed.job.call.windowTokens, error.windowTokens);
  return windowTokens >= MIN_WINDOW ? { kind: 'assume window', windowTokens } : { kind: 'none' };
}

/** From the second failure on, one call reads this part of the window; later ones even less. */
const SLOW_PARTS = [8, 64] as const;
const FAILURES_PER_PART = 3;

/**
 * A slow model may need longer for the whole text than a call may take, every time. Once in a maintenance it reads less,
 * and so do the jobs that follow.
 */
function canReadFaster(error: unknown, { job, work }: FailedJob): boolean {
  const isLate = error instanceof ModelError && error.reason === 'timeout';
  if (!isLate || job.conversation.failures === 0 || isRequestedRewrite(work) || work.kind === 'condense') return false;
  return job.headTokens === Number.POSITIVE_INFINITY;
}

function fastHead({ conversation, call: { windowTokens } }: FailedJob['job']): number {
  const parts = conversation.failures <= FAILURES_PER_PART ? SLOW_PARTS[0] : SLOW_PARTS[1];
  return Math.max(MIN_SPAN_TOKENS, Math.floor(windowTokens / parts));
}

/** Attempts at the whole text, because most refusals do not repeat. */
const WHOLE_ATTEMPTS = 2;
/** How many times shorter each next head is. */
const NARROWING = 8;

function mayBeTheText(error: unknown, { job, work, doubt }: FailedJob): boolean {
  if (!failureOf(error).isTexts || job.conversation.failures < WHOLE_ATTEMPTS) return false;
  return !isRequestedRewrite(work) && doubt !== 'open';
}

/**
 * The model, or its filter, refuses a text, which must not block all later summaries. After some attempts at the whole
 * text, shorter heads are tried until the refused messages are found; these are left out. Before the first shorter head,
 * and again before messages are left out, the model has to summarise a harmless text.
 */
function afterRefusal({ job: { headTokens, call }, work, doubt }: FailedJob): Remedy {
  if (work.kind === 'condense' || headTokens <= MIN_SPAN_TOKENS) return { kind: 'leave out' };
  const shorter = Math.max(MIN_SPAN_TOKENS, Math.floor(Math.min(headTokens, call.windowTokens) / NARROWING));
  return { kind: 'read less', headTokens: shorter, doubt: doubt === 'none' ? 'open' : doubt };
}

/** The window that the provider names, unless it is the one already assumed. */
function smallerWindow(current: number, named: number | null): number {
  return named !== null && named < current * 0.95 ? named : Math.floor(current * 0.6);
}
