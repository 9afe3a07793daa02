import {
  type Entry,
  type NewPost,
  POST_HOLD_MS,
  type PostRow,
  type TurnCommit,
  type TurnCommitResult,
} from '../../../src/adapter-kit.ts';
import { dueAt, holdsReply } from './conversation-rows.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction, together } from './engine.ts';
import { writeJson } from './json.ts';
import { createNoteReadings, isForgotten } from './provenance.ts';
import { withoutReader } from './redaction.ts';
import { toConversation } from './rows.ts';
import type { Shared } from './shared.ts';
import type { ConversationRow } from './tables.ts';
import { createUsage, type UsageRows } from './usage.ts';

/** A finished turn in one transaction: its entries, its posts, its cost, and the end of its claim. */
export function createTurnCommit(shared: Shared): (commit: TurnCommit) => Promise<TurnCommitResult> {
  const { engine } = shared;
  const context = {
    shared,
    usage: createUsage(engine),
    noteReadings: createNoteReadings(engine),
    statements: prepareStatements(engine),
  };
  return (commit) => engine.write((transaction) => run(context, transaction, commit));
}

interface TurnContext {
  readonly shared: Shared;
  readonly usage: UsageRows;
  readonly noteReadings: ReturnType<typeof createNoteReadings>;
  readonly statements: ReturnType<typeof prepareStatements>;
}

async function run(context: TurnContext, transaction: Transaction, commit: TurnCommit): Promise<TurnCommitResult> {
  const { shared, usage, noteReadings, statements } = context;
  const row = await shared.conversations.lock(transaction, commit.claim.conversationId);
  if (row === null || !holdsReply(row, commit.claim.epoch)) return { kind: 'stale' };
  const given = [...new Set(commit.given)];
  if (await isForgotten(shared.engine, transaction, given)) {
    await shared.conversations.change(transaction, row.id, withoutReader(row));
    return { kind: 'stale' };
  }
  const changed = finish(row, commit);
  const entries = commit.entries.map((entry, index) => toEntry(row.next_seq + index, commit.readUpto, entry));
  const common = { conversationId: row.id, turn: commit.readUpto, entrySeq: shownEntry(entries) };
  const heldUntil = commit.now + POST_HOLD_MS;
  const [, , stored] = await together([
    transaction.run(statements.finish(changed)),
    together(entries.map((entry) => shared.entries.insert(transaction, newRow(row.id, entry)))),
    together(commit.posts.map((post) => transaction.rows(statements.post({ ...common, heldUntil, ...newPost(post) })))),
    usage.add(transaction, row.id, commit.usage),
    noteReadings(transaction, {
      conversationId: row.id,
      ids: given,
      fromSeq: commit.readUpto,
    }),
  ]);
  const posts = commit.posts.flatMap((post, index) =>
    (stored[index] ?? []).map(({ id }) => toPending(id, row.id, { commit, post })),
  );
  return { kind: 'committed', entries, posts, conversation: toConversation(changed) };
}

/** Pure: the row after the turn. */
function finish(row: ConversationRow, commit: TurnCommit): ConversationRow {
  return {
    ...row,
    next_seq: row.next_seq + commit.entries.length,
    answered_upto: Math.max(row.answered_upto, commit.readUpto),
    reply_until: null,
    calibration: commit.calibration === null ? row.calibration : writeJson(commit.calibration),
    last_activity_at: commit.now,
    ...dueAt(row, commit.maintainAt),
  };
}

function toEntry(seq: number, turn: number, entry: TurnCommit['entries'][number]): Entry {
  return {
    seq,
    externalId: null,
    role: entry.role,
    turn,
    author: null,
    parts: entry.parts,
    replyTo: null,
    mentions: [],
    tokens: entry.tokens,
    at: entry.at,
    editedAt: null,
    redactedAt: null,
  };
}

function newRow(conversationId: number, entry: Entry) {
  return {
    conversation_id: conversationId,
    seq: entry.seq,
    external_id: null,
    role: entry.role,
    turn: entry.turn,
    author_id: null,
    author_name: null,
    author_kind: null,
    parts: entry.parts,
    reply_to: null,
    mentions: '[]',
    tokens: entry.tokens,
    at: entry.at,
  };
}

/** Posts show the last thing that the turn says. */
function shownEntry(entries: readonly Entry[]): number | null {
  return entries.findLast((entry) => entry.role !== 'tool')?.seq ?? null;
}

function newPost(post: NewPost) {
  return { chunk: post.chunk, nonce: post.nonce, body: writeJson(post.body), replyTo: post.replyTo };
}

function toPending(id: number, conversationId: number, of: { commit: TurnCommit; post: NewPost }): PostRow {
  return {
    ...of.post,
    id,
    conversationId,
    turn: of.commit.readUpto,
    state: 'pending',
    attempts: 0,
    reason: null,
    platformMessageId: null,
  };
}

interface NewPostValues extends ReturnType<typeof newPost> {
  readonly conversationId: number;
  readonly turn: number;
  readonly entrySeq: number | null;
  readonly heldUntil: number;
}

function prepareStatements({ query }: SqlEngine) {
  return {
    finish: prepare((p: Parameter<ConversationRow>) =>
      query
        .updateTable('conversation')
        .set({
          next_seq: p('next_seq'),
          answered_upto: p('answered_upto'),
          reply_until: p('reply_until'),
          calibration: p('calibration'),
          last_activity_at: p('last_activity_at'),
          maintain_at: p('maintain_at'),
          maintain_again: p('maintain_again'),
        })
        .where('id', '=', p('id')),
    ),
    post: prepare((p: Parameter<NewPostValues>) =>
      query
        .insertInto('outbox')
        .values({
          conversation_id: p('conversationId'),
          turn: p('turn'),
          entry_seq: p('entrySeq'),
          chunk: p('chunk'),
          nonce: p('nonce'),
          body: p('body'),
          reply_to: p('replyTo'),
          state: 'pending',
          attempts: 0,
          held_until: p('heldUntil'),
        })
        .returning('id'),
    ),
  };
}
