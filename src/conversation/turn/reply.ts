import { idleMsOf } from '../../config/directory.ts';
import { describe, isStoreAway, isStrataError, ModelError } from '../../domain/errors.ts';
import type { Entry } from '../../domain/message.ts';
import { failureOf } from '../../models/failure.ts';
import type { Activity } from '../../ports/channel.ts';
import type { AfterTurn, ContextProfile } from '../../ports/engine.ts';
import type { TurnFailure } from '../../ports/events.ts';
import type { Claim, ContextSnapshot, TurnCommitResult } from '../../ports/store.ts';
import { holdLease } from '../../util/work/lease.ts';
import { heldNotice, throughPostHooks } from '../posts/hooked-post.ts';
import { askedIn, newestMessage } from '../state/snapshot.ts';
import { readOf } from '../state/standing.ts';
import { type AfterReply, afterReply, bookUnstored, cutIn, type Ending, type Held } from './after-reply.ts';
import { failureText } from './failure-text.ts';
import { withCutNote } from './incomplete.ts';
import type { Opening, ReplyOptions } from './reply-options.ts';
import { runTurn, type TurnOutcome } from './turn.ts';
import { createTurnEffects, type TurnEffects } from './turn-effects.ts';
import { entriesOf, postsOf } from './turn-entries.ts';

/** If this process is killed, another one replies after the lease. A turn renews it while it runs. */
export const REPLY_LEASE_MS = 10_000;

export type ReplyEnd =
  | ({
      readonly kind: 'committed';
      readonly result: Committed;
      readonly verdict: AfterTurn;
    } & AfterReply)
  /** Nothing was stored: the claim was lost, the bot is stopping, or no message asked for a reply. */
  | { readonly kind: 'nothing' };
type Committed = Extract<TurnCommitResult, { kind: 'committed' }>;

/** Runs one turn under its claim, from the view to the commit. */
export async function reply(options: ReplyOptions, opening: Opening): Promise<ReplyEnd> {
  const { store, clock, events } = options.services;
  const { claim, snapshot } = opening;
  const newestSaid = newestMessage(snapshot);
  if (newestSaid === null) return await giveBack(options, claim, snapshot.conversation.nextSeq - 1);
  const { conversations } = store;
  using lease = holdLease(
    { conversations, clock, work: 'reply', leaseMs: REPLY_LEASE_MS, signal: options.signal },
    claim,
  );
  const conversation = snapshot.conversation.key;
  const show = (activity: Activity) => options.channelOf(conversation)?.show(conversation, activity);
  const startedAt = clock.now();
  events.emit({ kind: 'turn.started', conversation, readUpto: newestSaid.seq });
  show({ kind: 'working' });
  const ended = await answer(options, { ...opening, newest: newestSaid, signal: lease.signal, show });
  const { effects, newest } = ended;
  const outcome = await throughHooks(options, snapshot, { outcome: ended.outcome, signal: lease.signal });
  if (lease.signal.aborted) {
    bookUnstored(options, snapshot, effects);
    return await giveBack(options, claim, null);
  }
  try {
    return await commit(options, { claim, newest, outcome, startedAt, effects, snapshot });
  } catch (error) {
    bookUnstored(options, snapshot, effects);
    throw error;
  }
}

/** How a turn ended, and its effects; none if it could not be prepared. */
interface Answered {
  readonly outcome: TurnOutcome;
  readonly effects: TurnEffects | null;
}

/** Reads as many of the waiting messages, from the oldest, as the request can show. The others stay owed. */
async function answer(options: ReplyOptions, opening: Preparing): Promise<Answered & Pick<Preparing, 'newest'>> {
  let { newest } = opening;
  for (;;) {
    try {
      return { ...(await answerUpto(options, { ...opening, newest })), newest };
    } catch (error) {
      if (!isStrataError(error, 'TOO_MANY_WAITING')) throw error;
      const { readUpto } = error.data;
      const earlier = opening.snapshot.tail.find(({ seq }) => seq === readUpto);
      if (earlier === undefined) throw error;
      newest = earlier;
    }
  }
}

/** A refusal may reveal what the model cannot do, or how large its window is. Then the turn is prepared again, once. */
async function answerUpto(options: ReplyOptions, opening: Preparing): Promise<Answered> {
  const first = await attempt(options, opening);
  return (await hasLearned(options, opening, first)) ? await attempt(options, opening) : first;
}

async function attempt(options: ReplyOptions, opening: Preparing): Promise<Answered & { profile?: ContextProfile }> {
  const prepared = await prepare(options, opening);
  if (!prepared.ready) return { outcome: prepared.outcome, effects: null };
  const { effects, profile } = prepared;
  return { outcome: await runTurn(effects, `t${opening.newest.seq}`), effects, profile };
}

async function hasLearned(
  { profiles }: ReplyOptions,
  { snapshot, signal }: Preparing,
  { outcome, profile }: Answered & { readonly profile?: ContextProfile },
): Promise<boolean> {
  if (signal.aborted || profile === undefined || outcome.kind === 'answered' || outcome.steps.length > 0) return false;
  if (outcome.reason !== 'unsupported' && outcome.reason !== 'overflow') return false;
  const known = await profiles.of(snapshot.conversation);
  const [now, before] = [known.traits, profile.traits];
  return now.tools !== before.tools || now.images !== before.images || known.windowTokens !== profile.windowTokens;
}

/** The hooks for posts may change or hold back an answer. The apology for a failure does not pass through them. */
async function throughHooks(
  { services }: ReplyOptions,
  { conversation }: ContextSnapshot,
  { outcome, signal }: { readonly outcome: TurnOutcome; readonly signal: AbortSignal },
): Promise<TurnOutcome | Held> {
  if (outcome.kind === 'failed') return outcome;
  try {
    const result = await throughPostHooks(services, { conversation, text: outcome.text, isReply: true, signal });
    return result.kind === 'post'
      ? { ...outcome, text: result.text.trim() }
      : { ...result, kind: 'held', steps: outcome.steps };
  } catch (error) {
    return { kind: 'failed', reason: 'hook', message: describe(error), steps: outcome.steps };
  }
}

/** A turn under its lease. `reply` makes it once; a turn that is prepared a second time starts from the same one. */
interface Preparing extends Opening {
  readonly newest: Entry;
  readonly signal: AbortSignal;
  readonly show: (activity: Activity) => void;
}

type Prepared =
  | { readonly ready: true; readonly effects: TurnEffects; readonly profile: ContextProfile }
  | { readonly ready: false; readonly outcome: TurnOutcome };

/**
 * Opens the model and collects what the turn reads. If the model cannot be opened, the turn answers with an apology
 * instead of throwing.
 */
async function prepare(options: ReplyOptions, opening: Preparing): Promise<Prepared> {
  try {
    // Concurrently, so that both share one read of the store.
    const preparedAt = options.services.clock.now();
    const reading = options.profiles.of(opening.snapshot.conversation);
    const sections = options.volatileFor({ ...opening, profile: reading, now: preparedAt });
    const [profile, volatile] = await Promise.all([reading, sections]);
    const models = await options.profiles.modelsFor(profile);
    const effects = createTurnEffects(options, { ...opening, profile, models, volatile, preparedAt });
    opening.onGiven(effects.given());
    return { ready: true, effects, profile };
  } catch (error) {
    if (isStoreAway(error)) throw error;
    const reason = reasonNotOpened(error);
    return { ready: false, outcome: { kind: 'failed', reason, message: describe(error), steps: [] } };
  }
}

function reasonNotOpened(error: unknown): TurnFailure {
  if (error instanceof ModelError) return error.reason;
  if (isStrataError(error, 'MODEL_UNKNOWN')) return 'missing';
  return failureOf(error).isAuth ? 'auth' : 'internal';
}

/** Ends a claim without a turn. The reply stays owed unless `answeredUpto` settles it. */
async function giveBack(options: ReplyOptions, claim: Claim, answeredUpto: number | null): Promise<ReplyEnd> {
  await options.services.store.conversations.release(claim, { work: 'reply', answeredUpto });
  return { kind: 'nothing' };
}

async function commit(options: ReplyOptions, ending: Ending): Promise<ReplyEnd> {
  const { store, clock, events } = options.services;
  const { claim, newest, outcome, effects, snapshot } = ending;
  const now = clock.now();
  const text = textFor(options, snapshot, outcome);
  const entries = entriesOf(outcome.steps, { role: outcome.kind === 'answered' ? 'assistant' : 'notice', text }, now);
  const channel = outcome.kind === 'held' ? null : options.channelOf(snapshot.conversation.key);
  const cut = cutIn(outcome);
  const bodies = channel?.split(withCutNote(options.services, snapshot.conversation, { text, cut })) ?? [];
  const of = { conversationId: claim.conversationId, turn: newest.seq, replyTo: askedIn(snapshot, newest).externalId };
  const verdict = effects?.assess(entries) ?? { tier: 'none', due: false };
  const recorded = outcome.kind === 'answered' ? ((await effects?.recorded(now)) ?? null) : null;
  const written = store.transcript.commitTurn({
    claim,
    readUpto: newest.seq,
    entries,
    posts: postsOf(bodies, of),
    usage: effects?.usage() ?? [],
    calibration: effects?.calibration() ?? null,
    given: effects?.given() ?? [],
    read: readOf(snapshot),
    blobs: [...(effects?.blobs() ?? []), ...(recorded?.blobs ?? [])],
    ...(recorded === null ? {} : { record: recorded.record }),
    maintainAt: verdict.due ? now : now + idleMs(options, snapshot),
    now,
  });
  const base = { conversation: snapshot.conversation.key, readUpto: newest.seq };
  const result = await options.disk.watch(written, base.conversation);
  if (result.kind === 'stale') {
    events.emit({ kind: 'turn.superseded', ...base });
    bookUnstored(options, snapshot, effects);
    return { kind: 'nothing' };
  }
  recorded?.committed(result.conversation.nextSeq - 1);
  return { kind: 'committed', result, verdict, ...afterReply(options, { ...ending, text }) };
}

/** After this much silence, the conversation's messages and answers are read for memories. */
function idleMs({ services }: ReplyOptions, { conversation }: ContextSnapshot): number {
  return idleMsOf(services.agents.agentFor(conversation.key));
}

function textFor(options: ReplyOptions, snapshot: ContextSnapshot, outcome: TurnOutcome | Held): string {
  if (outcome.kind === 'answered') return outcome.text;
  return outcome.kind === 'held'
    ? heldNotice(outcome.reason)
    : failureText(options, snapshot.conversation, outcome.reason);
}
