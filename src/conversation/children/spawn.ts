import { idleMsOf } from '../../config/directory.ts';
import { MAX_TAIL_ENTRIES } from '../../context/cuts/plan.ts';
import { estimateParts } from '../../context/measure/tokens.ts';
import { childProfile } from '../../context/profile/child-profile.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import type { ConversationKey, Entry } from '../../domain/message.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { ToolSpec } from '../../ports/model.ts';
import type { Claim, ContextSnapshot } from '../../ports/store.ts';
import type { ChildAnswer, ChildTask } from '../../tools/spawn.ts';
import { holdLease } from '../../util/work/lease.ts';
import { rejection } from '../../util/work/limit.ts';
import type { Watch } from '../actor.ts';
import { cleanParts } from '../turn/clean-parts.ts';
import { REPLY_LEASE_MS } from '../turn/reply.ts';
import type { ReplyOptions } from '../turn/reply-options.ts';
import type { ParentCall } from '../turn/spawning.ts';
import { runTurn, type TurnOutcome } from '../turn/turn.ts';
import { createTurnEffects, type TurnEffects } from '../turn/turn-effects.ts';
import { entriesOf } from '../turn/turn-entries.ts';

export interface ChildOptions extends ReplyOptions {
  readonly watch: Pick<Watch, 'answered'>;
}

/** One child conversation and what it has used so far. */
export interface Child {
  readonly key: ConversationKey;
  readonly parent: ParentCall;
  readonly task: ChildTask;
  readonly tools: readonly ToolSpec[];
  /** Aborts with the tool call, and when the time is over. */
  readonly signal: AbortSignal;
  readonly usage: UsageRow[];
  /** Resolves when the engine was told of all turns. The answer does not wait for it. */
  reported: Promise<void>;
}

/** A stored message of the child, and the claim to answer it. */
export interface Asked {
  readonly seq: number;
  readonly claim: Claim;
}

/** Maximum number of turns of one child. */
const MAX_TURNS = 16;
/** A child may use this many windows of tokens, unless its task says otherwise. */
const DEFAULT_WINDOWS = 10;

/** Stores a message for the child's model, under the name of the person for whom the tool works. */
export async function tellChild({ services }: ChildOptions, child: Child, text: string): Promise<Asked> {
  const { key, parent } = child;
  const now = services.clock.now();
  const parts = cleanParts([{ kind: 'text', text }]);
  const about = { externalId: null, replyTo: null, mentions: [], tokens: estimateParts(parts), at: now };
  // The child's own commit waits for the disk.
  const stored = await services.store.transcript.append({
    conversation: key,
    audience: parent.context.audience,
    wantsReply: true,
    now,
    message: { ...about, role: 'user', author: parent.context.author, parts },
    claimLeaseMs: REPLY_LEASE_MS,
    idleExtractMs: idleMsOf(services.agents.agentFor(key)),
  });
  if (stored.kind === 'stored' && stored.claim !== null) return { seq: stored.seq, claim: stored.claim };
  throw new StrataError('CLAIM_LOST', { conversation: key, work: 'reply' });
}

/** Runs turns until the child's model has answered and the tool has nothing more to say. */
export async function converse(options: ChildOptions, child: Child, first: Asked): Promise<ChildAnswer> {
  let asked = first;
  for (let turns = 1; ; turns += 1) {
    const done = await answer(options, child, asked);
    const following = child.task.next?.(done.text) ?? null;
    const next = await Promise.race([following, rejection(child.signal)]);
    const reported = child.reported.then(() => done.report(next === null));
    child.reported = reported.catch(reporting(options, child));
    if (next === null) return { text: done.text, turns, tokens: tokensOf(child) };
    if (turns === MAX_TURNS) throw new StrataError('CHILD_LIMIT', { limit: `${MAX_TURNS} turns` });
    asked = await tellChild(options, child, next);
  }
}

interface Done {
  readonly text: string;
  /** Tells the engine of the stored turn. After the last one, no compaction starts. */
  report(isLast: boolean): Promise<void>;
}

async function answer(options: ChildOptions, child: Child, { seq, claim }: Asked): Promise<Done> {
  const { store, clock } = options.services;
  const lease = { conversations: store.conversations, clock, work: 'reply', leaseMs: REPLY_LEASE_MS } as const;
  using held = holdLease({ ...lease, signal: child.signal }, claim);
  const snapshot = await viewOf(options, child, claim);
  const newest = snapshot.tail.find((entry) => entry.seq === seq);
  if (newest === undefined) throw new StrataError('CLAIM_LOST', { conversation: child.key, work: 'reply' });
  const profile = await profileOf(options, child, snapshot);
  if (seq === 1) await options.engineFor(profile).bootstrap(snapshot);
  const turn = { claim, snapshot, newest, profile, signal: held.signal };
  const effects = await createChildEffects(options, child, turn);
  const outcome = await runWithinBudget(options, child, { effects, seq });
  if (outcome.kind === 'failed') throw new StrataError('CHILD_FAILED', { reason: outcome.message });
  return await commit(options, child, { ...turn, effects, outcome });
}

/** One turn of the child, under its claim. */
interface Turn {
  readonly claim: Claim;
  readonly snapshot: ContextSnapshot;
  readonly newest: Entry;
  readonly profile: ContextProfile;
  readonly signal: AbortSignal;
}

async function viewOf({ services }: ChildOptions, { key }: Child, claim: Claim): Promise<ContextSnapshot> {
  const view = await services.store.transcript.context(claim.conversationId, { maxEntries: MAX_TAIL_ENTRIES });
  if (view === null) throw new StrataError('CONVERSATION_UNKNOWN', { key });
  return view;
}

async function profileOf(
  { services, profiles }: ChildOptions,
  { key, tools }: Child,
  { conversation }: ContextSnapshot,
): Promise<ContextProfile> {
  const profile = await profiles.of(conversation);
  return childProfile(services, profile, { agent: services.agents.agentFor(key), tools });
}

/** The effects of a turn. Tools act for the conversation that people see, with the rights of the person there. */
async function createChildEffects(options: ChildOptions, child: Child, turn: Turn): Promise<TurnEffects> {
  const { parent } = child;
  const preparedAt = options.services.clock.now();
  const volatile = await options.volatileFor({ ...turn, now: preparedAt });
  const models = await options.profiles.modelsFor(turn.profile);
  const onGiven: ParentCall['context']['onGiven'] = (ids) => parent.context.onGiven?.(ids);
  const effects = createTurnEffects(options, {
    ...turn,
    models,
    volatile,
    preparedAt,
    show: () => undefined,
    onGiven: (ids) => onGiven(ids),
    async latest() {
      await parent.check();
      return await viewOf(options, child, turn.claim);
    },
    child: {
      budget: parent.budget,
      blobs: parent.context.blobs,
      contextOf: (own) => ({
        ...parent.context,
        audience: own.audience,
        signal: own.signal,
        storedIn: own.conversationId,
        ...(own.blobs === undefined ? {} : { blobs: own.blobs }),
        callKey: `${parent.context.callKey}/${parent.ordinal}.${own.callKey.slice(own.callKey.lastIndexOf('#') + 1)}`,
        ...(own.onImages === undefined ? {} : { onImages: own.onImages }),
      }),
    },
  });
  onGiven(effects.given());
  return effects;
}

interface Asking extends Pick<Asked, 'seq'> {
  readonly effects: TurnEffects;
}

/** Runs the loop within the tokens of the child. Its calls are paid by the conversation that people see. */
async function runWithinBudget(options: ChildOptions, child: Child, { effects, seq }: Asking): Promise<TurnOutcome> {
  const { task, usage, parent } = child;
  const maxTokens = task.maxTokens ?? DEFAULT_WINDOWS * parent.profile.windowTokens;
  const before = usage.length;
  let isOver = false;
  const ask: TurnEffects['ask'] = async (request, asking) => {
    isOver = tokensOf(child) + tokensIn(effects.usage()) >= maxTokens;
    if (isOver) throw new StrataError('CHILD_LIMIT', { limit: `${maxTokens} tokens` });
    return await effects.ask(request, asking);
  };
  const outcome = await runTurn({ ...effects, ask }, `t${seq}`);
  usage.push(...effects.usage());
  const spent = usage.slice(before);
  const { journal } = options.services.store;
  if (spent.length > 0) await journal.addUsage(parent.context.conversationId, spent).catch(reporting(options, child));
  if (isOver) throw new StrataError('CHILD_LIMIT', { limit: `${maxTokens} tokens` });
  return outcome;
}

/** Losing a row of costs, or an engine that breaks, does not fail the child. */
function reporting({ services }: ChildOptions, { parent }: Child) {
  const { conversation } = parent.context;
  return (error: unknown) => services.events.emit({ kind: 'error.internal', conversation, message: describe(error) });
}

function tokensOf({ usage }: Child): number {
  return tokensIn(usage);
}

function tokensIn(usage: readonly UsageRow[]): number {
  return usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
}

interface Answered extends Turn {
  readonly effects: TurnEffects;
  readonly outcome: Extract<TurnOutcome, { kind: 'answered' }>;
}

async function commit(options: ChildOptions, child: Child, turn: Answered): Promise<Done> {
  const { services, watch, disk } = options;
  const { claim, newest, effects, outcome, profile } = turn;
  const now = services.clock.now();
  const entries = entriesOf(outcome.steps, { role: 'assistant', text: outcome.text }, now);
  const verdict = effects.assess(entries);
  const written = services.store.transcript.commitTurn({
    claim,
    readUpto: newest.seq,
    entries,
    posts: [],
    usage: [],
    now,
    calibration: effects.calibration(),
    given: effects.given(),
    blobs: effects.blobs(),
    maintainAt: verdict.due ? now : now + idleMsOf(services.agents.agentFor(child.key)),
  });
  const result = await disk.watch(written, child.parent.context.conversation);
  if (result.kind === 'stale') throw new StrataError('CLAIM_LOST', { conversation: child.key, work: 'reply' });
  const seqs = [newest.seq, ...result.entries.map(({ seq }) => seq)];
  return {
    text: outcome.text,
    async report(isLast) {
      const { conversationId } = claim;
      const snapshot = await services.store.transcript.context(conversationId, { maxEntries: MAX_TAIL_ENTRIES });
      if (snapshot === null) return;
      if (isLast) await options.engineFor(profile).ingestBatch({ profile, snapshot, seqs });
      else watch.answered(snapshot, verdict, seqs);
    },
  };
}
