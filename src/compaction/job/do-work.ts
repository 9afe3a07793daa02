import type { ContextSnapshot } from '../../ports/store.ts';
import { condense, recondense } from './condense.ts';
import { cover } from './cover.ts';
import { extract } from './extract.ts';
import type { Job, JobResult } from './job.ts';
import type { Work } from './next-work.ts';
import { assertUnchanged, orIfChanged } from './unchanged.ts';

/**
 * Does the work: reads, calls the model outside any transaction, commits by compare-and-set. If a text is edited or
 * deleted after it was read, no further call repeats it.
 */
export async function doWork(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  const assertCurrent = () => assertUnchanged(job.services, snapshot.conversation, work.toSeq);
  return await orIfChanged(doUnchanged({ ...job, call: { ...job.call, assertCurrent } }, work, snapshot), {
    result: 'stale',
    toSeq: work.toSeq,
    memories: [],
  });
}

async function doUnchanged(job: Job, work: Work, snapshot: ContextSnapshot): Promise<JobResult> {
  switch (work.kind) {
    case 'condense':
      return { result: await condense(job, work.condensation), toSeq: work.toSeq, memories: [] };
    case 'extract':
      return await extract(job, work, snapshot);
    case 'rewrite':
      if (work.layer.level === 0) return await cover(job, work, snapshot);
      return { result: await recondense(job, work.layer), toSeq: work.toSeq, memories: [] };
    default:
      return await cover(job, work, snapshot);
  }
}
