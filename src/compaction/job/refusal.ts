import { ModelError } from '../../domain/errors.ts';
import { failureOf } from '../../models/failure.ts';
import type { Run } from './maintenance-context.ts';
import { isAsked } from './next-job.ts';
import type { Attempt } from './record-run.ts';
import { MIN_SPAN_TOKENS } from './span.ts';

/** Attempts at the whole text, because most refusals do not repeat. */
const WHOLE_ATTEMPTS = 2;
/** How many times shorter each next head is. */
const NARROWING = 8;

/**
 * A text that a model refuses, or that a filter withholds, must not keep a conversation from ever being summarised
 * again. After some attempts as a whole, shorter heads of it are tried until the refused messages are found; those are
 * passed over. Before the first shorter head, and again before messages are passed over, the model has to summarise a
 * harmless text. Null if the job has to wait for better times.
 */
export function afterRefusal(self: Run, error: unknown, { job, work }: Attempt): 'read less' | 'leave out' | null {
  const { failures } = job.conversation;
  if (!failureOf(error).isTexts || failures < WHOLE_ATTEMPTS || isAsked(work) || self.doubt === 'open') return null;
  if (self.doubt === 'none') self.doubt = 'open';
  if (work.kind === 'condense' || self.headTokens <= MIN_SPAN_TOKENS) return 'leave out';
  self.headTokens = Math.max(MIN_SPAN_TOKENS, Math.floor(Math.min(self.headTokens, job.windowTokens) / NARROWING));
  return 'read less';
}

/** From the second failure on, one call reads this part of the window; later ones even less. */
const SLOW_PARTS = [8, 64] as const;
const FAILURES_PER_PART = 3;

/**
 * A slow model may need longer for the whole text than a call may take, every time. Once in a run it reads less, and so
 * does the rest of the run. False if that cannot help.
 */
export function afterTimeout(self: Run, error: unknown, { job, work }: Attempt): boolean {
  const { failures } = job.conversation;
  const isLate = error instanceof ModelError && error.reason === 'timeout';
  if (!isLate || failures === 0 || isAsked(work) || work.kind === 'condense') return false;
  if (self.headTokens !== Number.POSITIVE_INFINITY) return false;
  const parts = failures <= FAILURES_PER_PART ? SLOW_PARTS[0] : SLOW_PARTS[1];
  self.headTokens = Math.max(MIN_SPAN_TOKENS, Math.floor(job.windowTokens / parts));
  return true;
}
