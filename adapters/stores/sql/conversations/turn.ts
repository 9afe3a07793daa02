import { type Entry, POST_HOLD_MS, type TurnCommit, type TurnCommitResult } from '../../../../src/adapter-kit.ts';
import { withoutReader } from '../forgetting/redaction.ts';
import { createNoteReadings, createReadGiven } from '../memories/provenance.ts';
import { first, type SqlEngine, type Transaction, together } from '../query/engine.ts';
import { writeJson } from '../query/json.ts';
import { insertBlob } from '../records/blobs.ts';
import { createPostInsert, type InsertPosts } from '../records/posts.ts';
import { createUsage, type UsageRows } from '../records/usage.ts';
import { dueAt, holdsReply, prepareUpdate } from '../rows/conversation-rows.ts';
import { toConversation } from '../rows/domain-objects.ts';
import { type AddRequestParts, createAddRequestParts } from '../rows/requests.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, EntryRow } from '../schema/tables.ts';

/** A finished turn in one transaction: its entries, its posts, its costs, and the end of its claim. */
export function createTurnCommit(shared: Shared): (commit: TurnCommit) => Promise<TurnCommitResult> {
  const { engine } = shared;
  const context = {
    shared,
    usage: createUsage(engine),
    insertPosts: createPostInsert(engine),
    readGiven: createReadGiven(engine),
    noteReadings: createNoteReadings(engine),
    addRequestParts: createAddRequestParts(engine),
    statements: prepareStatements(engine),
  };
  return (commit) => engine.write((transaction) => run(context, transaction, commit));
}

interface TurnContext {
  readonly shared: Shared;
  readonly usage: UsageRows;
  readonly insertPosts: InsertPosts;
  readonly readGiven: ReturnType<typeof createReadGiven>;
  readonly noteReadings: ReturnType<typeof createNoteReadings>;
  readonly addRequestParts: AddRequestParts;
  readonly statements: ReturnType<typeof prepareStatements>;
}

interface Checked {
  readonly row: ConversationRow;
  readonly commit: TurnCommit;
}

/** Whether what the turn was shown has changed. */
async function isOutdated(context: TurnContext, transaction: Transaction, checked: Checked): Promise<boolean> {
  for (const quoted of checked.commit.quotes ?? []) if (await misquotes(context, transaction, quoted)) return true;
  return await isEdited(context, transaction, checked);
}

/** Whether a person has edited what the turn read. Most conversations did not change at all during a turn. */
async function isEdited(
  { shared }: TurnContext,
  transaction: Transaction,
  { row, commit: { read, readUpto } }: Checked,
): Promise<boolean> {
  if (read === undefined || row.changed_revision <= read.revision) return false;
  const edited = shared.engine.query
    .selectFrom('entry')
    .select('seq')
    .where('conversation_id', '=', row.id)
    .where('seq', '>=', read.fromSeq)
    .where('seq', '<=', readUpto)
    .where('changed_revision', '>', read.revision)
    .where('author_kind', '=', 'person');
  return (await first(transaction, edited.limit(1).compile())) !== null;
}

/** Whether a message of another conversation that the turn was shown is deleted, or a person has edited it. */
async function misquotes(
  { shared }: TurnContext,
  transaction: Transaction,
  { conversationId, revision, seqs }: NonNullable<TurnCommit['quotes']>[number],
): Promise<boolean> {
  const row = await shared.conversations.get(transaction, conversationId);
  if (row === null) return true;
  if (row.changed_revision <= revision) return false;
  const entries = await shared.entries.pick(transaction, conversationId, seqs);
  const isValid = ({ redacted_at, changed_revision, author_kind }: EntryRow) =>
    redacted_at === null && ((changed_revision ?? 0) <= revision || author_kind !== 'person');
  return entries.filter(isValid).length < seqs.length;
}

/** The conversation, locked together with those that are quoted, in the order in which deletions take the same locks. */
async function lockAll(
  { conversations }: Shared,
  transaction: Transaction,
  { claim, quotes = [] }: TurnCommit,
): Promise<ConversationRow | null> {
  let own: ConversationRow | null = null;
  const ids = new Set([claim.conversationId, ...quotes.map(({ conversationId }) => conversationId)]);
  for (const id of [...ids].sort((a, b) => a - b)) {
    const row = await conversations.lock(transaction, id);
    if (id === claim.conversationId) own = row;
  }
  return own;
}

async function run(context: TurnContext, transaction: Transaction, commit: TurnCommit): Promise<TurnCommitResult> {
  const { shared, usage, insertPosts, readGiven, noteReadings, addRequestParts, statements } = context;
  const row = await lockAll(shared, transaction, commit);
  if (row === null || !holdsReply(row, commit.claim.epoch)) return { kind: 'stale' };
  const { isWithdrawn, unnoted } = await readGiven(transaction, row, [...new Set(commit.given)]);
  if (isWithdrawn || (await isOutdated(context, transaction, { row, commit }))) {
    await shared.conversations.change(transaction, row.id, withoutReader(row));
    return { kind: 'stale' };
  }
  const changed = finish(row, commit);
  const entries = commit.entries.map((entry, index) => toEntry(row.next_seq + index, commit.readUpto, entry));
  const last = entries.length - 1;
  const rowOf = (entry: Entry, index: number) =>
    newRow(row.id, entry, index === last ? (commit.record?.note ?? null) : null);
  const at = { conversationId: row.id, now: commit.now };
  const shown = {
    conversationId: row.id,
    turn: commit.readUpto,
    entrySeq: entries.at(-1)?.seq ?? null,
    heldUntil: commit.now + POST_HOLD_MS,
  };
  const [, , posts] = await together([
    transaction.run(statements.finish(row, changed)),
    together(entries.map((entry, index) => shared.entries.insert(transaction, rowOf(entry, index)))),
    insertPosts(transaction, shown, commit.posts),
    usage.add(transaction, row.id, commit.usage),
    noteReadings(transaction, { conversationId: row.id, ids: unnoted, fromSeq: commit.readUpto }),
    addRequestParts(transaction, row.id, commit.record?.parts ?? []),
    together((commit.blobs ?? []).map((blob) => insertBlob(shared.engine, transaction, { ...blob, ...at }))),
  ]);
  const previousActivityAt = row.last_activity_at;
  return { kind: 'committed', entries, posts, conversation: toConversation(changed), previousActivityAt };
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
    wantsReply: false,
  };
}

function newRow(conversationId: number, entry: Entry, request: string | null) {
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
    request,
    wants_reply: 0,
  };
}

function prepareStatements({ query }: SqlEngine) {
  return {
    finish: prepareUpdate(query, (p) => ({
      next_seq: p('next_seq'),
      answered_upto: p('answered_upto'),
      reply_until: p('reply_until'),
      calibration: p('calibration'),
      last_activity_at: p('last_activity_at'),
      maintain_again: p('maintain_again'),
    })),
  };
}
