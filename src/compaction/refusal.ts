import { failureOf } from '../models/failure.ts';
import type { Run } from './maintenance-context.ts';
import { isAsked } from './next-job.ts';
import type { Attempt } from './record-run.ts';
import { MIN_SPAN_TOKENS } from './span.ts';

/** Most refusals do not repeat. */
const WHOLE_ATTEMPTS = 2;
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
