import { idleMsOf } from '../../config/directory.ts';
import { storeUsage } from '../../costs/store-usage.ts';
import type { AfterTurn } from '../../ports/engine.ts';
import type { NewPost } from '../../ports/outbox-store.ts';
import type { ContextSnapshot, TurnCommitResult } from '../../ports/store.ts';
import { heldNotice } from '../posts/hooked-post.ts';
import { askedIn } from '../state/snapshot.ts';
import { readOf } from '../state/turn-standing.ts';
import { type AfterReply, afterReply, cutIn } from './after-reply.ts';
import { type Ending, type Held, recordOf, verdictOn } from './end.ts';
import { failureText } from './failure-text.ts';
import { withCutNote } from './incomplete.ts';
import type { TurnOutcome } from './loop/outcome.ts';
import type { ReplyOptions } from './reply-options.ts';
import { entriesOf, postsOf } from './turn-entries.ts';

export type ReplyEnd =
  | ({
      readonly kind: 'committed';
      readonly result: Committed;
      readonly verdict: AfterTurn;
    } & AfterReply)
  /** Nothing was stored: the claim was lost, the bot is stopping, or no message asked for a reply. */
  | { readonly kind: 'nothing' };
type Committed = Extract<TurnCommitResult, { kind: 'committed' }>;

/** Stores the turn with its posts. If it was overtaken, nothing is stored, and the reply is still owed. */
export async function commit(options: ReplyOptions, ending: Ending): Promise<ReplyEnd> {
  const { store, clock, events } = options.services;
  const { claim, newest, outcome, findings, snapshot } = ending;
  const now = clock.now();
  const text = textFor(options, snapshot, outcome);
  const entries = entriesOf(outcome.steps, { role: outcome.kind === 'answered' ? 'assistant' : 'notice', text }, now);
  const posts = postsFor(options, ending, text);
  const verdict = verdictOn(findings, entries);
  const recorded = outcome.kind === 'answered' ? await recordOf(options, findings, now) : null;
  const written = store.transcript.commitTurn({
    claim,
    readUpto: newest.seq,
    entries,
    posts,
    usage: findings.usage,
    calibration: findings.calibration,
    given: findings.given.memoryIds,
    quotes: findings.given.quotes,
    read: readOf(snapshot),
    blobs: [...findings.blobs, ...(recorded?.blobs ?? [])],
    ...(recorded === null ? {} : { record: recorded.record }),
    maintainAt: verdict.due ? now : now + idleMs(options, snapshot),
    now,
  });
  const base = { conversation: snapshot.conversation.key, readUpto: newest.seq };
  const result = await options.disk.watch(written, base.conversation);
  if (result.kind === 'stale') {
    events.emit({ kind: 'turn.superseded', ...base });
    await storeUsage(options.services, snapshot.conversation, findings.usage);
    return { kind: 'nothing' };
  }
  recorded?.committed(result.conversation.nextSeq - 1);
  return { kind: 'committed', result, verdict, ...afterReply(options, { ...ending, text }) };
}

function postsFor(
  options: ReplyOptions,
  { claim, newest, outcome, snapshot }: Ending,
  text: string,
): readonly NewPost[] {
  const { conversation } = snapshot;
  const channel = outcome.kind === 'held' ? null : options.channelOf(conversation.key);
  const bodies = channel?.split(withCutNote(options.services, conversation, { text, cut: cutIn(outcome) })) ?? [];
  const replyTo = askedIn(snapshot, newest).externalId;
  return postsOf(bodies, { conversationId: claim.conversationId, turn: newest.seq, replyTo });
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
