import { idleMsOf } from '../config/directory.ts';
import { MAX_TAIL_ENTRIES } from '../context/cuts/plan.ts';
import { hasReady, publishedView } from '../context/cuts/ready.ts';
import { maintenanceSettings } from '../context/profile/call-settings.ts';
import { recognise, renderInSlices } from '../context/view/entry-reuse.ts';
import { describe, isStrataError, type ModelError } from '../domain/errors.ts';
import { describeForAll, failureOf, isOutage, isOverflow, seenOf } from '../models/failure.ts';
import { MAX_PAUSE_MS, type ReleaseOutcome } from '../ports/conversation-changes.ts';
import type { MaintainRequest, MaintainResult } from '../ports/engine.ts';
import type { Conversation } from '../ports/store.ts';
import { counted } from '../util/text/text.ts';
import { backoffMs } from '../util/work/backoff.ts';
import { holdLease } from '../util/work/lease.ts';
import { isPaused } from '../util/work/pause.ts';
import { assertWithinBudget, budgetProblem, payerOf } from './job/call-budget.ts';
import type { Done } from './job/do-work.ts';
import type { Job } from './job/job.ts';
import type { MaintenanceContext, MaintenanceOptions, Run } from './job/maintenance-context.ts';
import { openModel } from './job/model.ts';
import { isRequestedRewrite, type Look, nextLookAt, nextWork, type Work } from './job/next-work.ts';
import { type Attempt, runWork } from './job/record-run.ts';
import { afterRefusal, afterTimeout } from './job/refusal.ts';
import { dropImpossible, pendingRewrite, tryRequestedRewrite } from './job/rewrite.ts';
import { publish, waitingOf } from './waiting.ts';
import { createMeasureView } from './watch/measure.ts';

/** Does the due work of one conversation, under a claim, until there is none left. */
export interface Maintenance {
  run(request: MaintainRequest): Promise<MaintainResult>;
}

/**
 * A killed worker is considered dead after this time. The lease is renewed three times within it, so that a slow model
 * keeps it.
 */
const LEASE_MS = 6000;
/** Maximum number of jobs of one run; then other conversations get their turn. */
const MAX_ROUNDS = 40;
/** After this many results in a row that came too late, the run ends. */
const MAX_STALE = 3;
/** A model with a smaller window cannot summarise anything. */
const MIN_WINDOW = 500;

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const shared: MaintenanceContext = {
    ...options,
    measureView: createMeasureView(options.services),
    windows: new Map(),
    toolless: new Set(),
    reasoning: new Map(),
  };
  return { run: (request) => run(shared, request) };
}

async function run(shared: MaintenanceContext, request: MaintainRequest): Promise<MaintainResult> {
  const { store, clock } = shared.services;
  const { conversationId } = request;
  const now = clock.now();
  const won = await store.conversations.claim({ work: 'maintenance', conversationId, now, leaseMs: LEASE_MS });
  if (won === null) return { changed: false, reason: await whyNot(shared, conversationId) };
  const { conversations } = store;
  const hold = { conversations, clock, work: 'maintenance', leaseMs: LEASE_MS, signal: request.signal } as const;
  using lease = holdLease(hold, won.claim);
  const self: Run = {
    shared,
    request,
    claim: won.claim,
    signal: lease.signal,
    done: [],
    opened: null,
    asked: null,
    unavailable: new Set(),
    headTokens: Number.POSITIVE_INFINITY,
    doubt: 'none',
  };
  try {
    self.asked = await pendingRewrite(shared.services.state, conversationId);
    const end = await runDueJobs(self);
    await conversations.release(won.claim, { work: 'maintenance', kind: 'done', ...end });
    return { changed: self.done.length > 0, reason: self.done.join('; ') || nothingFor(request) };
  } catch (error) {
    return await giveUp(self, won.conversation, error);
  }
}

function nothingFor({ trigger }: MaintainRequest): string {
  return trigger === 'manual' ? 'there is too little to summarise yet' : 'nothing is due';
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

type End = Pick<Extract<ReleaseOutcome, { kind: 'done' }>, 'seenNextSeq' | 'maintainAt'>;

/** Runs one job after another, reading the store before each. */
async function runDueJobs(self: Run): Promise<End> {
  const { services } = self.shared;
  let trigger = self.request.trigger;
  let open: Look['open'] = null;
  let stale = 0;
  let look = await lookAt(self, { trigger, open, settling: false });
  for (let round = 0; round < MAX_ROUNDS && stale < MAX_STALE && look !== null; round += 1) {
    await dropImpossible(self, look);
    const seen: Look = { ...look, asked: self.asked };
    const work = nextWork(seen);
    if (work === null) return { seenNextSeq: seen.snapshot.conversation.nextSeq, maintainAt: nextLookAt(seen) };
    const attempt = () => tryWork(self, work, seen);
    const done = isRequestedRewrite(work) ? await tryRequestedRewrite(self, look.snapshot, attempt) : await attempt();
    const isCommitted = done?.result === 'committed';
    if (done !== null) stale = isCommitted ? 0 : stale + 1;
    if (isCommitted) self.done.push(wordsFor(work, done));
    open = isCommitted && work.kind === 'compact' ? { toSeq: work.toSeq, trigger: work.trigger } : null;
    if (isCommitted && work.trigger === 'manual' && !isRequestedRewrite(work)) trigger = 'queue';
    const settling = look.settling || (isCommitted && work.kind !== 'extract' && work.trigger !== 'manual');
    look = await lookAt(self, { trigger, open, settling }, look);
  }
  // Not finished: continued soon, after other conversations.
  const { conversationId } = self.claim;
  services.queue.kick(conversationId, { delayMs: stale > 0 ? 1000 : 0 });
  return { seenNextSeq: look?.snapshot.conversation.nextSeq ?? 0, maintainAt: services.clock.now() };
}

async function lookAt(self: Run, of: Pick<Look, 'trigger' | 'open' | 'settling'>, before?: Look): Promise<Look | null> {
  self.signal.throwIfAborted();
  const { shared, claim } = self;
  const { store, clock, agents } = shared.services;
  const read = await store.transcript.context(claim.conversationId, { maxEntries: MAX_TAIL_ENTRIES });
  if (read === null) return null;
  const stored = recognise(read, before?.snapshot.tail ?? []);
  const profile = await shared.profiles.of(stored.conversation);
  await renderInSlices(stored, profile.timeZone);
  const waiting = await waitingOf(self, { ...of, stored, profile });
  if (hasReady(stored) && !waiting.canWait && (await publish(self))) return await lookAt(self, of, before);
  const snapshot = publishedView(stored);
  const idleMs = idleMsOf(agents.agentFor(snapshot.conversation.key));
  const { asked } = self;
  const measured = shared.measureView(profile, snapshot);
  return { ...of, ...waiting, ...measured, asked, snapshot, profile, idleMs, now: clock.now() };
}

/**
 * Null if another attempt can do better: with less, because the window of the model is smaller than assumed, the model is
 * slow or refuses some of it, or with the next model, because this one is unavailable.
 */
async function tryWork(self: Run, work: Work, look: Look): Promise<Done | null> {
  const wish = (isRequestedRewrite(work) ? self.asked?.wish : self.request.instruction)?.trim() ?? '';
  // The prompt puts it in quotation marks, which it must not close.
  const job = { ...(await jobFor(self, look)), instruction: wish.replaceAll('"', "'") };
  try {
    return await runWork(self, { job, work, look });
  } catch (error) {
    if (isOutage(error) && (await openNext(self, job, error))) return null;
    if (afterTimeout(self, error, { job, work, look })) return null;
    const next = afterRefusal(self, error, { job, work, look });
    if (next === 'read less') return null;
    if (next === 'leave out') return await leaveOut(self, { job, work, look });
    if (!isOverflow(error)) throw error;
    const smaller = smallerWindow(job.windowTokens, error.windowTokens);
    if (smaller >= MIN_WINDOW) {
      self.shared.windows.set(job.model.id, smaller);
      return null;
    }
    // The window was not the cause: all later jobs would read next to nothing.
    self.shared.windows.delete(job.model.id);
    throw error;
  }
}

async function leaveOut(self: Run, attempt: Attempt): Promise<Done> {
  // The model may have stopped working since the last test, and may stop again.
  self.doubt = 'open';
  const done = await runWork(self, { ...attempt, job: { ...attempt.job, leavesOut: true } });
  self.headTokens = Number.POSITIVE_INFINITY;
  self.doubt = 'none';
  return done;
}

/** False if the agent has no other usable model. */
async function openNext(
  self: Run,
  { agent, profile, model, conversation }: Failed,
  error: ModelError,
): Promise<boolean> {
  const { breaker, services } = self.shared;
  self.unavailable.add(model.id);
  const next = await openModel(self.shared, agent, { profile, unavailable: self.unavailable }).catch(() => null);
  if (next === null || self.signal.aborted) return false;
  const message = describe(error);
  await breaker.failed(model.id, { auth: false, message: describeForAll(error), place: null });
  const names = { model: model.id, next: next.model.id };
  services.events.emit({ kind: 'model.fallback', conversation: conversation.key, ...names, message });
  self.opened = next;
  return true;
}

type Failed = Pick<Job, 'agent' | 'profile' | 'model' | 'conversation'>;

/** The window that the provider names, unless it is the one already assumed. */
function smallerWindow(current: number, named: number | null): number {
  return named !== null && named < current * 0.95 ? named : Math.floor(current * 0.6);
}

async function jobFor(self: Run, look: Look): Promise<Omit<Job, 'onStep' | 'instruction'>> {
  const { shared, claim, signal } = self;
  const { services, toolless, reasoning } = shared;
  const { conversation } = look.snapshot;
  const agent = services.agents.agentFor(conversation.key);
  await assertWithinBudget(services, await payerOf(services, conversation));
  self.opened ??= await openModel(shared, agent, { profile: look.profile, unavailable: self.unavailable });
  const { model, windowTokens } = self.opened;
  return {
    services,
    claim,
    conversation,
    agent,
    profile: look.profile,
    model,
    // Learned for another agent, it may be larger than what this one sets.
    windowTokens: Math.min(windowTokens, shared.windows.get(model.id) ?? windowTokens),
    clock: services.clock,
    hooks: services.hooks,
    where: { conversation: conversation.key, audience: conversation.audience, agentId: agent.id, model: model.id },
    settings: maintenanceSettings(agent),
    timeoutMs: agent.compaction.timeout_seconds * 1000,
    ready: look.canWait,
    headTokens: self.headTokens,
    leavesOut: false,
    signal,
    toolless,
    avoidsTools: avoidsTools(conversation),
    reasoning,
  };
}

/** Some models and servers fail over the form of calls, every time. From the third attempt on, every second is without. */
function avoidsTools({ failures }: Conversation): boolean {
  return failures >= 2 && failures % 2 === 0;
}

function wordsFor(work: Work, { toSeq, memories }: Done): string {
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

/** A failure changes only the time of the next attempt. */
async function giveUp(self: Run, conversation: Conversation, error: unknown): Promise<MaintainResult> {
  const { shared, claim, request, signal } = self;
  const { store, clock, events, random, queue } = shared.services;
  const changed = self.done.length > 0;
  const reason = describe(error);
  if (signal.aborted) {
    await store.conversations.release(claim, { work: 'maintenance', kind: 'done', seenNextSeq: -1, maintainAt: null });
    return { changed, reason: 'stopped before it finished' };
  }
  const failure = failureOf(error);
  const modelId = failure.modelId ?? self.opened?.model.id ?? null;
  if (failure.isModels && modelId !== null) {
    await shared.breaker.failed(modelId, seenOf(failure, error, conversation));
  }
  const failures = conversation.failures + 1;
  const { retryAfterMs } = failure;
  const isCostly = failure.isTexts || isOverflow(error);
  const waitMs = backoffMs({ failures, chance: random.next(), retryAfterMs, isCostly });
  const isNotYet = isStrataError(error, 'MODEL_PAUSED') || isStrataError(error, 'SPEND_CAPPED');
  const nextAttemptAt = isNotYet ? error.data.untilAt : clock.now() + waitMs;
  // A manual run happens once: the person gets the reason of a failure, and other work is not delayed.
  const outcome: ReleaseOutcome =
    request.trigger === 'manual'
      ? { work: 'maintenance', kind: 'done', seenNextSeq: -1, maintainAt: null }
      : { work: 'maintenance', kind: 'failed', error: reason, nextAttemptAt };
  await store.conversations.release(claim, outcome);
  if (request.trigger === 'manual') return { changed, reason };
  events.emit({
    kind: 'maintenance.delayed',
    conversation: conversation.key,
    message: reason,
    nextAttemptAt,
    failures,
  });
  queue.kick(claim.conversationId, { delayMs: nextAttemptAt - clock.now() });
  return { changed, reason };
}
