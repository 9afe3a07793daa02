import { publishedView } from '../../context/cuts/ready.ts';
import { recognise } from '../../context/view/entry-reuse.ts';
import { bookCall } from '../../costs/usage.ts';
import { describe, ModelError } from '../../domain/errors.ts';
import { rootOf } from '../../domain/key.ts';
import type { MaintenanceRun, UsageRow } from '../../ports/journal.ts';
import type { ModelPurpose, ModelUsage } from '../../ports/model.ts';
import { countCalls, payerOf } from './call-budget.ts';
import { type Done, doWork } from './do-work.ts';
import type { Job } from './job.ts';
import type { Run } from './maintenance-context.ts';
import type { Look, Work } from './next-work.ts';
import { assertWorks } from './self-test.ts';

/** One attempt at a job, and the look from which the job was chosen. */
export interface Attempt {
  readonly job: Omit<Job, 'onStep'>;
  readonly work: Work;
  readonly look: Look;
}

/** Runs one job and records its outcome and cost. */
export async function runWork(self: Run, { job, work, look }: Attempt): Promise<Done> {
  const { services, breaker } = self.shared;
  const { agent, conversation, model } = job;
  const { key } = conversation;
  const startedAt = services.clock.now();
  const usage: UsageRow[] = [];
  services.events.emit({ kind: 'maintenance.started', conversation: key, work: work.kind, trigger: work.trigger });
  const call = {
    conversation: rootOf(key),
    purpose: purposeOf(work),
    model: model.id,
    agentId: agent.id,
    person: null,
  };
  const onStep = (billed: ModelUsage, durationMs: number) => {
    usage.push(bookCall(services, { ...call, usage: billed, durationMs }));
  };
  const record: Recording = { self, work, look, model: model.id, startedAt, usage };
  try {
    if (self.doubt === 'open') await clearDoubt(self, { ...job, onStep });
    const done = await doWork({ ...job, onStep }, work, look.snapshot);
    if (usage.length > 0) await breaker.succeeded(model.id);
    if (done.result === 'committed') announceMemories(self, look, done);
    const outcome = { outcome: done.result, error: null, toSeq: done.toSeq, memories: done.memories.length };
    await recordOutcome(record, outcome, usage.length);
    return done;
  } catch (error) {
    const cause = self.signal.aborted ? 'stopped before it finished' : describe(error);
    // A failed call also costs tokens.
    const calls = usage.length + (error instanceof ModelError ? 1 : 0);
    await recordOutcome(record, { outcome: 'failed', error: cause, toSeq: work.toSeq, memories: 0 }, calls);
    throw error;
  }
}

async function clearDoubt(self: Run, job: Job): Promise<void> {
  await assertWorks(job);
  self.doubt = 'cleared';
}

function purposeOf(work: Work): ModelPurpose {
  if (work.kind === 'extract' || work.kind === 'condense') return work.kind;
  return work.kind === 'rewrite' && work.layer.level > 0 ? 'condense' : 'compact';
}

function announceMemories(self: Run, look: Look, { memories }: Done): void {
  const ids = memories.map((write) => (write.kind === 'corroborate' ? write.id : write.memory.id));
  if (ids.length === 0) return;
  const { key } = look.snapshot.conversation;
  self.shared.services.events.emit({ kind: 'memory.saved', conversation: key, ids });
}

/** What the record of an attempt is made from. */
interface Recording {
  readonly self: Run;
  readonly work: Work;
  readonly look: Look;
  readonly model: string;
  readonly startedAt: number;
  readonly usage: readonly UsageRow[];
}

type Outcome = Pick<MaintenanceRun, 'outcome' | 'error' | 'toSeq' | 'memories'>;

/** A failure of the journal must not fail the job: committed work stays committed. */
async function recordOutcome(record: Recording, outcome: Outcome, calls: number): Promise<void> {
  const { self, look, usage } = record;
  const { services } = self.shared;
  const { conversationId } = self.claim;
  try {
    const payer = await payerOf(services, look.snapshot.conversation);
    await countCalls(services, payer, calls);
    const row = await rowOf(record, outcome);
    if (usage.length > 0) await services.store.journal.addUsage(payer.id, usage);
    await services.store.journal.addRun(row, look.snapshot.conversation.revision);
    services.events.emit({ kind: 'maintenance.ended', conversation: look.snapshot.conversation.key, run: row });
  } catch (error) {
    services.log.error('maintenance.unrecorded', { conversationId, error: describe(error) });
  }
}

async function rowOf(record: Recording, outcome: Outcome): Promise<MaintenanceRun> {
  const { self, work, look, model, startedAt, usage } = record;
  const { services } = self.shared;
  const before = look.shownTokens;
  const durationMs = services.clock.now() - startedAt;
  return {
    id: services.random.id(),
    conversationId: self.claim.conversationId,
    work: work.kind,
    trigger: work.trigger,
    fromSeq: work.fromSeq,
    ...outcome,
    tokensBefore: before,
    tokensAfter: outcome.outcome === 'committed' ? await usedNow(self, look) : before,
    model,
    inputTokens: usage.reduce((sum, row) => sum + row.inputTokens, 0),
    outputTokens: usage.reduce((sum, row) => sum + row.outputTokens, 0),
    startedAt,
    durationMs,
  };
}

async function usedNow({ shared, claim }: Run, look: Look): Promise<number> {
  const maxEntries = Math.max(1, look.snapshot.tail.length);
  const read = await shared.services.store.transcript.context(claim.conversationId, { maxEntries });
  if (read === null) return 0;
  return shared.measureView(look.profile, publishedView(recognise(read, look.snapshot.tail))).shownTokens;
}
