import { publishedView } from '../../context/cuts/ready.ts';
import { recognise } from '../../context/view/entry-reuse.ts';
import { storeUsage } from '../../costs/store-usage.ts';
import { describe } from '../../domain/errors.ts';
import type { MaintenanceRun, UsageRow } from '../../ports/journal.ts';
import { countCalls, payerOf } from './call-budget.ts';
import type { Job } from './job.ts';
import type { Due, Look } from './next-work.ts';

/** What the record of a job is made from. */
export interface RanJob {
  readonly job: Job;
  readonly due: Due;
  readonly startedAt: number;
  readonly usage: readonly UsageRow[];
}

type Outcome = Pick<MaintenanceRun, 'outcome' | 'error' | 'toSeq' | 'memories'>;

/** Stores and reports what a job did and cost. A failure of the journal does not fail it: committed work stays committed. */
export async function recordJob(ran: RanJob, outcome: Outcome, calls: number): Promise<void> {
  const { job, usage } = ran;
  const { services, conversation } = job;
  try {
    const payer = await payerOf(services, conversation);
    await storeUsage(services, payer, usage);
    await countCalls(services, payer, calls);
    const run = await rowOf(ran, outcome);
    await services.store.journal.addRun(run, conversation.revision);
    services.events.emit({ kind: 'maintenance.ended', conversation: conversation.key, run });
  } catch (error) {
    services.log.error('maintenance.unrecorded', { conversationId: conversation.id, error: describe(error) });
  }
}

async function rowOf({ job, due, startedAt, usage }: RanJob, outcome: Outcome): Promise<MaintenanceRun> {
  const { services, claim } = job;
  const { work, look } = due;
  const before = look.shownTokens;
  const durationMs = services.clock.now() - startedAt;
  return {
    id: services.random.id(),
    conversationId: claim.conversationId,
    work: work.kind,
    trigger: work.trigger,
    fromSeq: work.fromSeq,
    ...outcome,
    tokensBefore: before,
    tokensAfter: outcome.outcome === 'committed' ? await usedNow(job, look) : before,
    model: job.call.model.id,
    inputTokens: usage.reduce((sum, row) => sum + row.inputTokens, 0),
    outputTokens: usage.reduce((sum, row) => sum + row.outputTokens, 0),
    startedAt,
    durationMs,
  };
}

async function usedNow({ services, claim, measureView }: Job, { snapshot, profile }: Look): Promise<number> {
  const maxEntries = Math.max(1, snapshot.tail.length);
  const read = await services.store.transcript.context(claim.conversationId, { maxEntries });
  if (read === null) return 0;
  return measureView(profile, publishedView(recognise(read, snapshot.tail))).shownTokens;
}
