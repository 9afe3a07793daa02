import { ModelError } from '../../domain/errors.ts';
import { failureOf } from '../../models/failure.ts';
import type { Run } from './maintenance-context.ts';
import { isRequestedRewrite } from './next-work.ts';
import type { Attempt } from './record-run.ts';
import { MIN_SPAN_TOKENS } from './span.ts';

/** Attempts at the whole text, because most refusals do not repeat. */
const WHOLE_ATTEMPTS = 2;
/** How many times shorter each next head is. */
const NARROWING = 8;

/**
 * What to do after the model, or its filter, has refused a text, so that it does not block all later summaries. After
 * some attempts at the whole text, shorter heads are tried until the refused messages are found; these are left out.
 * Before the first shorter head, and again before messages are left out, the model has to summarise a harmless text.
 * Null if the job must be retried later.
 */
export function afterRefusal(self: Run, error: unknown, { job, work }: Attempt): 'read less' | 'leave out' | null {
  const { failures } = job.conversation;
  if (!failureOf(error).isTexts || failures < WHOLE_ATTEMPTS || isRequestedRewrite(work) || self.doubt === 'open')
    return null;
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
  if (!isLate || failures === 0 || isRequestedRewrite(work) || work.kind === 'condense') return false;
  if (self.headTokens !== Number.POSITIVE_INFINITY) return false;
  const parts = failures <= FAILURES_PER_PART ? SLOW_PARTS[0] : SLOW_PARTS[1];
  self.headTokens = Math.max(MIN_SPAN_TOKENS, Math.floor(job.windowTokens / parts));
  return true;
}
