import { MAX_PAUSE_MS, type ReleaseOutcome } from '../ports/conversation-changes.ts';
import type { MaintainRequest, MaintainResult } from '../ports/engine.ts';
import { holdLease } from '../util/async/lease.ts';
import { isPaused } from '../util/async/pause.ts';
import { budgetProblem, payerOf } from './job/call-budget.ts';
import type { Look } from './job/next-work.ts';
import { giveUp } from './round/give-up.ts';
import { lookAt } from './round/look.ts';
import { firstProgress, type Progress } from './round/progress.ts';
import { pendingRewrite } from './round/requested.ts';
import { runRound } from './round/round.ts';
import type { MaintenanceContext, MaintenanceOptions, Task } from './round/task.ts';
import { createMeasureView } from './watch/measure.ts';

/**
 * Does the due work of one conversation, under a claim, until there is none left. The words for it:
 *
 * - A *maintenance* is everything that is done under one claim. Its `Task` says what was requested, and never changes.
 * - It goes in *rounds*. A round looks, decides, and tries one thing.
 * - The `Look` is what a round sees of the conversation (`lookAt`).
 * - `Work` is one thing that a look shows to be due: a summary to write, or messages to read for memories (`nextWork`).
 * - A `Job` is one attempt at the work with one model (`runJob`). The journal keeps it as a `MaintenanceRun`. A
 *   `JobResult` is what it stored.
 * - A `Question` is what a job asks its model, and a `Draft` is an answer that passed the audit.
 * - A `Remedy` is what may make another job succeed after one has failed (`remedyFor`).
 * - The `Progress` is what the rounds have done and learned so far. Each round takes one and returns the next.
 *
 * `nextWork`, `remedyFor` and `progressAfter` decide and are pure. `lookAt` reads; `tryWork` calls the model and stores.
 */
export interface Maintenance {
  run(request: MaintainRequest): Promise<MaintainResult>;
}

/**
 * A killed worker is considered dead after this time. The lease is renewed three times within it, so that a slow model
 * keeps it.
 */
const LEASE_MS = 6000;
/** Then other conversations get their turn. */
const MAX_ROUNDS = 40;
/** After this many results in a row that came too late, the maintenance ends. */
const MAX_LATE = 3;

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const context: MaintenanceContext = {
    ...options,
    measureView: createMeasureView(options.services),
    windows: new Map(),
    toolless: new Set(),
    reasoning: new Map(),
  };
  return { run: (request) => claimAndMaintain(context, request) };
}

async function claimAndMaintain(context: MaintenanceContext, request: MaintainRequest): Promise<MaintainResult> {
  const { store, clock } = context.services;
  const { conversations } = store;
  const { conversationId } = request;
  const now = clock.now();
  const won = await conversations.claim({ work: 'maintenance', conversationId, now, leaseMs: LEASE_MS });
  if (won === null) return { changed: false, reason: await whyNot(context, conversationId) };
  const hold = { conversations, clock, work: 'maintenance', leaseMs: LEASE_MS, signal: request.signal } as const;
  using lease = holdLease(hold, won.claim);
  return await maintain({ ...context, request, claim: won.claim, claimed: won.conversation, signal: lease.signal });
}

async function whyNot({ services }: MaintenanceContext, conversationId: number): Promise<string> {
  const conversation = await services.store.conversations.get(conversationId);
  if (conversation === null) return 'there is no such conversation';
  const { nextAttemptAt, lastError } = conversation;
  if (!isPaused(nextAttemptAt, { now: services.clock.now(), maxMs: MAX_PAUSE_MS }))
    return 'another job is working on it';
  // An edit or a deletion removes the stored error, which may quote what was said.
  const reason = lastError ?? (await budgetProblem(services, await payerOf(services, conversation)));
  const failed = `the last attempt failed${reason === null ? '' : ` (${reason})`}`;
  return `${failed}; the next one is at ${new Date(nextAttemptAt).toISOString()}`;
}

/** Runs one round after another, and releases the claim. */
async function maintain(task: Task): Promise<MaintainResult> {
  let progress = firstProgress(task.request.trigger);
  try {
    const asked = await pendingRewrite(task.services.state, task.claim.conversationId);
    progress = { ...progress, asked };
    let look = await lookAt(task, progress, null);
    for (let rounds = 0; rounds < MAX_ROUNDS && progress.late < MAX_LATE && look !== null; rounds += 1) {
      const round = await runRound(task, progress, look);
      progress = round.progress;
      if (round.kind === 'failed') throw round.error;
      if (round.kind === 'nothing due') return await finish(task, progress, round);
      look = await lookAt(task, progress, look);
    }
    return await interrupt(task, progress, look);
  } catch (error) {
    return await giveUp(task, { progress, error });
  }
}

/** Not finished: continued soon, after other conversations. */
async function interrupt(task: Task, progress: Progress, look: Look | null): Promise<MaintainResult> {
  const { queue, clock } = task.services;
  queue.kick(task.claim.conversationId, { delayMs: progress.late > 0 ? 1000 : 0 });
  const seenNextSeq = look?.snapshot.conversation.nextSeq ?? 0;
  return await finish(task, progress, { seenNextSeq, maintainAt: clock.now() });
}

async function finish(
  { services, claim, request }: Task,
  { done }: Progress,
  { seenNextSeq, maintainAt }: Pick<Extract<ReleaseOutcome, { kind: 'done' }>, 'seenNextSeq' | 'maintainAt'>,
): Promise<MaintainResult> {
  await services.store.conversations.release(claim, { work: 'maintenance', kind: 'done', seenNextSeq, maintainAt });
  return { changed: done.length > 0, reason: done.join('; ') || nothingFor(request) };
}

function nothingFor({ trigger }: MaintainRequest): string {
  return trigger === 'manual' ? 'there is too little to summarise yet' : 'nothing is due';
}
