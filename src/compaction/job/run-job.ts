import { storeUsage } from '../../costs/store-usage.ts';
import { bookCall } from '../../costs/usage.ts';
import { describe, ModelError } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { ModelPurpose } from '../../ports/model.ts';
import type { CallContext } from '../ask/call.ts';
import { payerOf } from './call-budget.ts';
import { doWork } from './do-work.ts';
import type { Job, JobResult } from './job.ts';
import type { Due, Work } from './next-work.ts';
import { recordJob } from './record-job.ts';
import { assertWorks } from './self-test.ts';

/** A job before it runs: nothing is measured yet, and nothing was read that could change. */
export type PlannedJob = Omit<Job, 'call'> & { readonly call: PlannedCalls };

export type PlannedCalls = Omit<CallContext, 'onStep' | 'onLost' | 'assertCurrent'>;

/** What came of a job. */
export type JobEnd = {
  /** The model has summarised a harmless text first. */
  readonly passedTest: boolean;
} & ({ readonly kind: 'ended'; readonly result: JobResult } | { readonly kind: 'failed'; readonly error: unknown });

/** Runs one job and records its outcome and cost. */
export async function runJob(planned: PlannedJob, due: Due): Promise<JobEnd> {
  const { services, conversation, breaker, testsModel } = planned;
  const { model, signal } = planned.call;
  const { work, look } = due;
  const startedAt = services.clock.now();
  services.events.emit({
    kind: 'maintenance.started',
    conversation: conversation.key,
    work: work.kind,
    trigger: work.trigger,
  });
  const usage: UsageRow[] = [];
  const onStep: CallContext['onStep'] = (...step) => usage.push(booked(planned, work, step));
  const onLost: CallContext['onLost'] = (...step) => void storeLost(planned, booked(planned, work, step));
  const job: Job = { ...planned, call: { ...planned.call, onStep, onLost } };
  const record = { job, due, startedAt, usage };
  let passedTest = false;
  try {
    if (testsModel) {
      await assertWorks(job);
      passedTest = true;
    }
    const result = await doWork(job, work, look.snapshot);
    if (usage.length > 0) await breaker.succeeded(model.id);
    if (result.result === 'committed') announceMemories(job, result);
    const outcome = { outcome: result.result, error: null, toSeq: result.toSeq, memories: result.memories.length };
    await recordJob(record, outcome, usage.length);
    return { kind: 'ended', result, passedTest };
  } catch (error) {
    const cause = signal.aborted ? 'stopped before it finished' : describe(error);
    // A failed call also costs tokens.
    const calls = usage.length + (error instanceof ModelError ? 1 : 0);
    await recordJob(record, { outcome: 'failed', error: cause, toSeq: work.toSeq, memories: 0 }, calls);
    return { kind: 'failed', error, passedTest };
  }
}

async function storeLost({ services, conversation }: PlannedJob, row: UsageRow): Promise<void> {
  await storeUsage(services, await payerOf(services, conversation).catch(() => conversation), [row]);
}

function booked(
  { services, conversation, call: { model }, agent }: PlannedJob,
  work: Work,
  [usage, durationMs]: Parameters<CallContext['onStep']>,
): UsageRow {
  const booking = { purpose: purposeOf(work), model: model.id, agentId: agent.id, person: null };
  return bookCall(services, { ...booking, conversation: rootOf(conversation.key), usage, durationMs });
}

function purposeOf(work: Work): ModelPurpose {
  if (work.kind === 'extract' || work.kind === 'condense') return work.kind;
  return work.kind === 'rewrite' && work.layer.level > 0 ? 'condense' : 'compact';
}

function announceMemories({ services, conversation }: Job, { memories }: JobResult): void {
  const ids = memories.map((write) => (write.kind === 'corroborate' ? write.id : write.memory.id));
  if (ids.length > 0) services.events.emit({ kind: 'memory.saved', conversation: conversation.key, ids });
}
