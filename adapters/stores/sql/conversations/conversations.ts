import {
  type Claim,
  type ClaimRequest,
  type ConversationStore,
  MAX_PAUSE_MS,
  type ReleaseOutcome,
} from '../../../../src/adapter-kit.ts';
import type { SqlEngine, Transaction } from '../query/engine.ts';
import {
  type ConversationRows,
  earliest,
  holdsMaintenance,
  holdsReply,
  isFree,
  isOf,
  nextEpoch,
  whereFree,
} from '../rows/conversation-rows.ts';
import { toConversation } from '../rows/domain-objects.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow } from '../schema/tables.ts';
import { changeConversation } from './conversation-changes.ts';
import { isSeen, readPage } from './conversation-pages.ts';

export function createConversations(shared: Shared): ConversationStore {
  const { engine, conversations } = shared;
  return {
    find: (key) => engine.read(async (tx) => orNull(await conversations.find(tx, key))),
    get: (id) => engine.read(async (tx) => orNull(await conversations.get(tx, id))),
    list: (page) => engine.read(async (tx) => (await readPage(engine.query, tx, page)).map(toConversation)),
    claim: (request) => engine.write((tx) => claim(shared, tx, request)),
    renew: (work, held, until) => engine.write((tx) => renew(conversations, tx, { work, held, until })),
    release: (held, outcome) => engine.write((tx) => release(conversations, tx, { held, outcome })),
    due: (work, request) =>
      engine.read(async (tx) => {
        const statement = work === 'reply' ? owing(engine, request) : maintainable(engine, request);
        return (await tx.rows(statement)).map(toConversation);
      }),
    change: (id, change) => changeConversation(shared, id, change),
  };
}

function orNull(row: ConversationRow | null) {
  return row === null ? null : toConversation(row);
}

async function claim({ engine, conversations: rows }: Shared, transaction: Transaction, request: ClaimRequest) {
  const row = await rows.lock(transaction, request.conversationId);
  if (row === null || !mayClaim(row, request)) return null;
  const until = request.now + request.leaseMs;
  const before = request.work === 'reply' ? row.reply_epoch : row.maintenance_epoch;
  const epoch = nextEpoch(engine, before);
  const values =
    request.work === 'reply'
      ? { reply_epoch: epoch, reply_until: until }
      : {
          maintenance_epoch: epoch,
          maintenance_until: until,
          maintenance_revision: row.revision,
          maintain_again: 0,
        };
  await rows.change(transaction, row.id, values);
  return {
    claim: { conversationId: row.id, epoch, until },
    conversation: toConversation({ ...row, ...values }),
  };
}

function mayClaim(row: ConversationRow, { work, now }: ClaimRequest): boolean {
  // The caller has read the debt earlier, and another process may have replied since.
  const isOwed = row.reply_due_seq > row.answered_upto;
  if (work === 'reply') return isOwed && isFree(row.reply_until, now);
  return isFree(row.next_attempt_at, now, MAX_PAUSE_MS) && isFree(row.maintenance_until, now);
}

async function renew(
  rows: ConversationRows,
  transaction: Transaction,
  { work, held, until }: { work: ClaimRequest['work']; held: Claim; until: number },
): Promise<Claim | null> {
  const row = await rows.lock(transaction, held.conversationId);
  if (row === null) return null;
  if (!(work === 'reply' ? holdsReply(row, held.epoch) : holdsMaintenance(row, held.epoch))) return null;
  await rows.change(transaction, row.id, work === 'reply' ? { reply_until: until } : { maintenance_until: until });
  return { ...held, until };
}

async function release(
  rows: ConversationRows,
  transaction: Transaction,
  { held, outcome }: { held: Claim; outcome: ReleaseOutcome },
): Promise<void> {
  const row = await rows.lock(transaction, held.conversationId);
  if (row === null) return;
  if (outcome.work === 'reply') {
    if (!holdsReply(row, held.epoch)) return;
    const answered_upto = Math.max(row.answered_upto, outcome.answeredUpto ?? 0);
    await rows.change(transaction, row.id, { reply_until: null, answered_upto });
  } else if (holdsMaintenance(row, held.epoch)) {
    const values = afterMaintenance(row, outcome);
    // The error may quote what was deleted while the job ran.
    const isLate = row.changed_revision > row.maintenance_revision;
    await rows.change(transaction, row.id, isLate ? { ...values, last_error: null } : values);
  }
}

function afterMaintenance(row: ConversationRow, outcome: Extract<ReleaseOutcome, { work: 'maintenance' }>) {
  if (outcome.kind === 'failed') {
    return {
      maintenance_until: null,
      failures: row.failures + 1,
      next_attempt_at: outcome.nextAttemptAt,
      last_error: outcome.error,
      maintain_at: earliest(row.maintain_at, outcome.nextAttemptAt),
    };
  }
  const isQuiet = outcome.seenNextSeq === row.next_seq && row.maintain_again === 0;
  return {
    maintenance_until: null,
    failures: 0,
    next_attempt_at: null,
    last_error: null,
    maintain_at: isQuiet ? outcome.maintainAt : row.maintain_at,
  };
}

type DueRequest = Parameters<ConversationStore['due']>[1];

function owing({ query }: SqlEngine, { now, limit, platform }: DueRequest) {
  const owed = query
    .selectFrom('conversation')
    .selectAll()
    .whereRef('reply_due_seq', '>', 'answered_upto')
    .where(isSeen)
    .where(whereFree('reply_until', now));
  const ours = platform === undefined ? owed : owed.where(isOf(platform));
  return ours.orderBy('last_activity_at').orderBy('id').limit(limit).compile();
}

function maintainable({ query }: SqlEngine, { now, limit, platform }: DueRequest) {
  const due = query
    .selectFrom('conversation')
    .selectAll()
    .where('maintain_at', '<=', now)
    .where(whereFree('next_attempt_at', now, MAX_PAUSE_MS))
    .where(whereFree('maintenance_until', now));
  const ours = platform === undefined ? due : due.where(isOf(platform));
  return ours.orderBy('maintain_at').orderBy('id').limit(limit).compile();
}
