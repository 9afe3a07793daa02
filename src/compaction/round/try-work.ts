import { describe, type ModelError } from '../../domain/errors.ts';
import { describeForAll, isOutage, isOverflow } from '../../models/failure.ts';
import { assertWithinBudget, payerOf } from '../job/call-budget.ts';
import type { JobResult } from '../job/job.ts';
import type { Due } from '../job/next-work.ts';
import { type PlannedJob, runJob } from '../job/run-job.ts';
import { planJob } from './plan-job.ts';
import type { Progress } from './progress.ts';
import { remedyFor } from './remedy.ts';
import { openSummariser, type Summariser } from './summariser.ts';
import type { Task } from './task.ts';

/** What came of an attempt, and the progress after it. */
export type Tried = { readonly progress: Progress } & (
  | { readonly kind: 'ended'; readonly result: JobResult }
  /** It failed, but another attempt can do better: with less, or with another model. */
  | { readonly kind: 'again' }
  /** It failed, and so does the maintenance. */
  | { readonly kind: 'failed'; readonly error: unknown }
);

/** Tries the work once. Never rejects. */
export async function tryWork(task: Task, before: Progress, due: Due): Promise<Tried> {
  let progress = before;
  try {
    const summariser = await summariserFor(task, before, due);
    progress = { ...before, summariser };
    return await attempt(task, progress, { due, job: planJob(task, progress, { ...due, summariser }) });
  } catch (error) {
    return { kind: 'failed', error, progress };
  }
}

/** Throws `SPEND_CAPPED` or `MODEL_PAUSED`. */
async function summariserFor(task: Task, { summariser, unavailable }: Progress, { look }: Due): Promise<Summariser> {
  const { services } = task;
  const { conversation } = look.snapshot;
  await assertWithinBudget(services, await payerOf(services, conversation));
  if (summariser !== null) return summariser;
  return await openSummariser(task, services.agents.agentFor(conversation.key), { profile: look.profile, unavailable });
}

interface Attempt {
  readonly due: Due;
  readonly job: PlannedJob;
}

async function attempt(task: Task, before: Progress, { due, job }: Attempt): Promise<Tried> {
  const end = await runJob(job, due);
  const progress: Progress = end.passedTest ? { ...before, doubt: 'cleared' } : before;
  if (end.kind === 'ended') return { kind: 'ended', result: end.result, progress };
  return await remedy(task, progress, { due, job, error: end.error });
}

/** Throws the error if nothing helps. */
async function remedy(
  task: Task,
  progress: Progress,
  { due, job, error }: Attempt & { readonly error: unknown },
): Promise<Tried> {
  const switched = isOutage(error) ? await withNextModel(task, progress, { job, error }) : null;
  if (switched !== null) return { kind: 'again', progress: switched };
  const found = remedyFor(error, { job, work: due.work, doubt: progress.doubt });
  switch (found.kind) {
    case 'read less':
      return { kind: 'again', progress: { ...progress, headTokens: found.headTokens, doubt: found.doubt } };
    case 'leave out':
      return await leaveOut(progress, { due, job });
    case 'assume window':
      task.windows.set(job.call.model.id, found.windowTokens);
      return { kind: 'again', progress };
    default:
      // The window was not the cause: all later jobs would read next to nothing.
      if (isOverflow(error)) task.windows.delete(job.call.model.id);
      throw error;
  }
}

/** Null if the agent has no other usable model. */
async function withNextModel(
  task: Task,
  progress: Progress,
  { job: { agent, profile, call, conversation }, error }: { readonly job: PlannedJob; readonly error: ModelError },
): Promise<Progress | null> {
  const unavailable = new Set([...progress.unavailable, call.model.id]);
  const next = await openSummariser(task, agent, { profile, unavailable }).catch(() => null);
  if (next === null || task.signal.aborted) return null;
  const message = describe(error);
  await task.breaker.failed(call.model.id, { auth: false, message: describeForAll(error), place: null });
  const names = { model: call.model.id, next: next.model.id };
  task.services.events.emit({ kind: 'model.fallback', conversation: conversation.key, ...names, message });
  return { ...progress, unavailable, summariser: next };
}

/** Tests the model first: it may have stopped working since the last test, and may stop again. */
async function leaveOut(progress: Progress, { due, job }: Attempt): Promise<Tried> {
  const end = await runJob({ ...job, testsModel: true, leavesOut: true }, due);
  if (end.kind === 'failed') throw end.error;
  const { result } = end;
  return { kind: 'ended', result, progress: { ...progress, headTokens: Number.POSITIVE_INFINITY, doubt: 'none' } };
}
