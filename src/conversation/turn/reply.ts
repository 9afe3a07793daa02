import { storeUsage } from '../../costs/store-usage.ts';
import { isStrataError } from '../../domain/errors.ts';
import type { Activity } from '../../ports/channel.ts';
import type { Claim } from '../../ports/store.ts';
import { holdLease } from '../../util/async/lease.ts';
import { newestMessage } from '../state/snapshot.ts';
import { commit, type ReplyEnd } from './commit.ts';
import { type EndedTurn, endedUnprepared, throughHooks } from './end.ts';
import { type LeasedTurn, type PreparedTurn, prepare } from './prepare.ts';
import type { Opening, ReplyOptions } from './reply-options.ts';
import { run } from './run.ts';

/** If this process is killed, another one replies after the lease. A turn renews it while it runs. */
export const REPLY_LEASE_MS = 10_000;

/** One turn under its claim: it is prepared, runs, ends with the hooks for posts, and is committed. */
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
  const { signal } = lease;
  const { newest, findings, ...ended } = await answer(options, { ...opening, newest: newestSaid, signal, show });
  const outcome = await throughHooks(options, snapshot, { outcome: ended.outcome, signal });
  if (signal.aborted) {
    await storeUsage(options.services, snapshot.conversation, findings.usage);
    return await giveBack(options, claim, null);
  }
  try {
    return await commit(options, { claim, newest, outcome, startedAt, findings, snapshot });
  } catch (error) {
    await storeUsage(options.services, snapshot.conversation, findings.usage);
    throw error;
  }
}

/** Reads as many of the waiting messages, from the oldest, as the request can show. The others stay owed. */
async function answer(options: ReplyOptions, leased: LeasedTurn): Promise<EndedTurn & Pick<LeasedTurn, 'newest'>> {
  let { newest } = leased;
  for (;;) {
    try {
      return { ...(await answerUpto(options, { ...leased, newest })), newest };
    } catch (error) {
      if (!isStrataError(error, 'TOO_MANY_WAITING')) throw error;
      const { readUpto } = error.data;
      const earlier = leased.snapshot.tail.find(({ seq }) => seq === readUpto);
      if (earlier === undefined) throw error;
      newest = earlier;
    }
  }
}

/** A refusal may reveal what the model cannot do, or how large its window is. Then the turn is prepared again, once. */
async function answerUpto(options: ReplyOptions, leased: LeasedTurn): Promise<EndedTurn> {
  const first = await prepare(options, leased);
  if (!first.ready) return endedUnprepared(first.outcome);
  const ended = await run(options, first.turn);
  if (!mayTeach(first.turn, ended) || !(await hasLearned(options, first.turn))) return ended;
  await storeUsage(options.services, leased.snapshot.conversation, ended.findings.usage);
  const second = await prepare(options, leased);
  return second.ready ? await run(options, second.turn) : endedUnprepared(second.outcome);
}

/** Not once a tool was called: that would repeat the call. */
function mayTeach({ leased }: PreparedTurn, { outcome }: EndedTurn): boolean {
  if (leased.signal.aborted || outcome.kind === 'answered' || outcome.steps.length > 0) return false;
  return outcome.reason === 'unsupported' || outcome.reason === 'overflow';
}

async function hasLearned(
  { profiles }: ReplyOptions,
  { basis: { snapshot, profile } }: PreparedTurn,
): Promise<boolean> {
  const known = await profiles.of(snapshot.conversation);
  const [now, before] = [known.traits, profile.traits];
  return now.tools !== before.tools || now.images !== before.images || known.windowTokens !== profile.windowTokens;
}

/** Ends a claim without a turn. The reply stays owed unless `answeredUpto` settles it. */
async function giveBack(options: ReplyOptions, claim: Claim, answeredUpto: number | null): Promise<ReplyEnd> {
  await options.services.store.conversations.release(claim, { work: 'reply', answeredUpto });
  return { kind: 'nothing' };
}
