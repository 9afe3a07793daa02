import { idleMsOf } from '../../config/directory.ts';
import { MAX_TAIL_ENTRIES } from '../../context/cuts/plan.ts';
import { estimateParts } from '../../context/measure/tokens.ts';
import { childProfile } from '../../context/profile/child-profile.ts';
import { storeUsage } from '../../costs/store-usage.ts';
import { describe, StrataError } from '../../domain/errors.ts';
import type { ConversationKey } from '../../domain/message.ts';
import type { ContextProfile } from '../../ports/engine.ts';
import type { UsageRow } from '../../ports/journal.ts';
import type { ToolSpec } from '../../ports/model.ts';
import type { Claim, ContextSnapshot } from '../../ports/store.ts';
import type { ChildTask } from '../../tools/spawn.ts';
import { holdLease } from '../../util/async/lease.ts';
import type { Watch } from '../actor.ts';
import { cleanParts } from '../state/clean-parts.ts';
import { type EndedTurn, type Findings, verdictOn } from '../turn/end.ts';
import type { AnsweredTurn } from '../turn/loop/outcome.ts';
import { collectTurn, type LeasedTurn, type PreparedTurn, type TurnBasis } from '../turn/prepare.ts';
import { REPLY_LEASE_MS } from '../turn/reply.ts';
import type { ReplyOptions } from '../turn/reply-options.ts';
import { run } from '../turn/run.ts';
import type { ChildTurn, ParentCall } from '../turn/spawner.ts';
import { entriesOf } from '../turn/turn-entries.ts';

export interface ChildOptions extends ReplyOptions {
  readonly watch: Pick<Watch, 'answered'>;
}

/** One child conversation. */
export interface Child {
  readonly key: ConversationKey;
  readonly parent: ParentCall;
  readonly task: ChildTask;
  readonly tools: readonly ToolSpec[];
}

export interface RunningChild extends Child {
  /** Aborts with the tool call, and when the time is over. */
  readonly signal: AbortSignal;
  /** Of its turns so far. */
  readonly usage: UsageRow[];
}

/** A stored message of the child, and the claim to answer it. */
export interface Asked {
  readonly seq: number;
  readonly claim: Claim;
}

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

/** A turn that is stored. */
interface Done {
  readonly text: string;
  /** Tells the engine of the stored turn. After the last one, no compaction starts. */
  report(isLast: boolean): Promise<void>;
}

/** Runs one turn of the child under its claim, and stores it. Throws `CHILD_FAILED` if the model has no answer. */
export async function answerAsked(options: ChildOptions, child: RunningChild, { seq, claim }: Asked): Promise<Done> {
  const { store, clock } = options.services;
  const lease = { conversations: store.conversations, clock, work: 'reply', leaseMs: REPLY_LEASE_MS } as const;
  using held = holdLease({ ...lease, signal: child.signal }, claim);
  const snapshot = await viewOf(options, child, claim);
  const newest = snapshot.tail.find((entry) => entry.seq === seq);
  if (newest === undefined) throw new StrataError('CLAIM_LOST', { conversation: child.key, work: 'reply' });
  const agent = options.services.agents.agentFor(child.key);
  const profile = await profileOf(options, child, { agent, conversation: snapshot.conversation });
  if (seq === 1) await options.engineFor(profile).bootstrap(snapshot);
  const leased = leasedTurn(options, child, { claim, snapshot, newest, signal: held.signal });
  const { outcome, findings } = await runWithinBudget(options, child, { leased, agent, profile });
  if (outcome.kind === 'failed') throw new StrataError('CHILD_FAILED', { reason: outcome.message });
  return await commit(options, child, { claim, newest, profile, outcome, findings });
}

async function viewOf({ services }: ChildOptions, { key }: Child, claim: Claim): Promise<ContextSnapshot> {
  const view = await services.store.transcript.context(claim.conversationId, { maxEntries: MAX_TAIL_ENTRIES });
  if (view === null) throw new StrataError('CONVERSATION_UNKNOWN', { key });
  return view;
}

async function profileOf(
  { services, profiles }: ChildOptions,
  { tools }: Child,
  { agent, conversation }: Pick<ContextSnapshot, 'conversation'> & Pick<PreparedTurn, 'agent'>,
): Promise<ContextProfile> {
  const profile = await profiles.of(conversation);
  return childProfile(services, profile, { agent, tools });
}

function leasedTurn(
  options: ChildOptions,
  child: Child,
  turn: Pick<LeasedTurn, 'claim' | 'snapshot' | 'newest' | 'signal'>,
): LeasedTurn {
  const { parent } = child;
  return {
    ...turn,
    show: () => undefined,
    onGiven({ memoryIds, quotes }) {
      parent.context.onGiven?.(memoryIds);
      parent.onQuoted(quotes);
    },
    async latest() {
      await parent.check();
      return await viewOf(options, child, turn.claim);
    },
  };
}

interface Profiled extends Pick<PreparedTurn, 'agent'>, Pick<TurnBasis, 'profile'> {
  readonly leased: LeasedTurn;
}

/** Runs the turn within the tokens of the child. */
async function runWithinBudget(
  options: ChildOptions,
  { task, usage, parent }: RunningChild,
  { leased, ...profiled }: Profiled,
): Promise<EndedTurn> {
  const maxTokens = task.maxTokens ?? DEFAULT_WINDOWS * parent.profile.windowTokens;
  let isOver = false;
  const mayAsk: ChildTurn['mayAsk'] = (spent) => {
    isOver = tokensIn(usage) + tokensIn(spent) >= maxTokens;
    if (isOver) throw new StrataError('CHILD_LIMIT', { limit: `${maxTokens} tokens` });
  };
  const child = childTurn(parent, mayAsk);
  const turn = await collectTurn(options, leased, { ...profiled, child });
  const ended = await run(options, turn);
  const spent = ended.findings.usage;
  usage.push(...spent);
  await storeUsage(options.services, child.payer, spent);
  if (isOver) throw new StrataError('CHILD_LIMIT', { limit: `${maxTokens} tokens` });
  return ended;
}

/** Tools act for the conversation that people see, with the rights of the person there. */
function childTurn({ budget, context, ordinal }: ParentCall, mayAsk: ChildTurn['mayAsk']): ChildTurn {
  return {
    budget,
    blobs: context.blobs,
    payer: { id: context.conversationId, key: context.conversation },
    mayAsk,
    contextOf: (own) => ({
      ...context,
      audience: own.audience,
      signal: own.signal,
      storedIn: own.conversationId,
      ...(own.blobs === undefined ? {} : { blobs: own.blobs }),
      callKey: `${context.callKey}/${ordinal}.${own.callKey.slice(own.callKey.lastIndexOf('#') + 1)}`,
      ...(own.onImages === undefined ? {} : { onImages: own.onImages }),
    }),
  };
}

/** An engine that breaks does not fail the child. */
export function reporting({ services }: ChildOptions, { parent }: Pick<Child, 'parent'>) {
  const { conversation } = parent.context;
  return (error: unknown) => services.events.emit({ kind: 'error.internal', conversation, message: describe(error) });
}

export function tokensIn(usage: readonly UsageRow[]): number {
  return usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
}

interface Answered extends Pick<LeasedTurn, 'claim' | 'newest'>, Pick<TurnBasis, 'profile'> {
  readonly outcome: AnsweredTurn;
  readonly findings: Findings;
}

async function commit(options: ChildOptions, child: Child, turn: Answered): Promise<Done> {
  const { services, watch, disk } = options;
  const { claim, newest, outcome, findings, profile } = turn;
  const now = services.clock.now();
  const entries = entriesOf(outcome.steps, { role: 'assistant', text: outcome.text }, now);
  const verdict = verdictOn(findings, entries);
  const written = services.store.transcript.commitTurn({
    claim,
    readUpto: newest.seq,
    entries,
    posts: [],
    usage: [],
    now,
    calibration: findings.calibration,
    given: findings.given.memoryIds,
    quotes: findings.given.quotes,
    blobs: findings.blobs,
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
