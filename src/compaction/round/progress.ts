import type { MaintainRequest } from '../../ports/engine.ts';
import { counted } from '../../util/text/text.ts';
import type { JobResult } from '../job/job.ts';
import { isRequestedRewrite, type Look, type Work } from '../job/next-work.ts';
import type { RewriteRequest } from '../job/rewrite-request.ts';
import type { Summariser } from './summariser.ts';

/** What the rounds of one maintenance have done and learned so far. Each round returns the progress for the next one. */
export interface Progress extends Pick<Look, 'trigger' | 'open' | 'settling'> {
  /** The committed jobs, in words. */
  readonly done: readonly string[];
  /** How many results in a row came too late. */
  readonly late: number;
  /** What somebody wants rewritten; null once it is done or refused. */
  readonly asked: RewriteRequest | null;
  /** Null before the first job. */
  readonly summariser: Summariser | null;
  /** Models that turned out to be unavailable. */
  readonly unavailable: ReadonlySet<string>;
  /** Maximum tokens of messages in one call. */
  readonly headTokens: number;
  readonly doubt: Doubt;
}

/** Whether refusals may be the model's own fault, which a test with a harmless text shows. */
export type Doubt = 'none' | 'open' | 'cleared';

export function firstProgress(trigger: MaintainRequest['trigger']): Progress {
  return {
    trigger,
    open: null,
    settling: false,
    done: [],
    late: 0,
    asked: null,
    summariser: null,
    unavailable: new Set(),
    headTokens: Number.POSITIVE_INFINITY,
    doubt: 'none',
  };
}

/** The progress after an attempt at the work. `result` is null if the attempt had none. Pure. */
export function progressAfter(before: Progress, work: Work, result: JobResult | null): Progress {
  if (result === null) return { ...before, open: null };
  if (result.result !== 'committed') return { ...before, open: null, late: before.late + 1 };
  const isManual = work.trigger === 'manual';
  return {
    ...before,
    done: [...before.done, wordsFor(work, result)],
    late: 0,
    open: work.kind === 'compact' ? { toSeq: work.toSeq, trigger: work.trigger } : null,
    trigger: isManual && !isRequestedRewrite(work) ? 'queue' : before.trigger,
    settling: before.settling || (work.kind !== 'extract' && !isManual),
  };
}

function wordsFor(work: Work, { toSeq, memories }: JobResult): string {
  const range = `#${work.fromSeq} to #${toSeq}`;
  const saved = memories.length === 0 ? '' : `, ${counted(memories.length, 'memory', 'memories')} saved`;
  return `${WORDS[work.kind]} ${range}${saved}`;
}

const WORDS: Readonly<Record<Work['kind'], string>> = {
  compact: 'summarised',
  fill: 'summarised the gap',
  rewrite: 'summarised again',
  condense: 'condensed the summaries of',
  extract: 'read for memories',
};
