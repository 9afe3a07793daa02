import {
  type Append,
  type Appended,
  type AppendResult,
  type Audience,
  type Claim,
  type ConversationKey,
  createLanes,
  type NewMessage,
  placeOf,
  tighter,
  tighterThan,
} from '../../../../src/adapter-kit.ts';
import { changeAudience } from '../forgetting/privacy.ts';
import { withdrawReplies } from '../forgetting/withdrawal.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction, together } from '../query/engine.ts';
import { writeJson } from '../query/json.ts';
import { createPostInsert, type InsertPosts } from '../records/posts.ts';
import { earliest, isFree, nextEpoch, prepareUpdate, presentOf } from '../rows/conversation-rows.ts';
import { toConversation } from '../rows/domain-objects.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow } from '../schema/tables.ts';

/**
 * The conversation's row assigns the seq, so a lower one cannot become visible after a higher one, and no entry slips
 * behind a compaction. An existing message changes nothing.
 */
export function createAppend(shared: Shared): (append: Append) => Promise<AppendResult> {
  const statements = prepareStatements(shared.engine);
  const context = { shared, statements, insertPosts: createPostInsert(shared.engine) };
  const write = async (append: Append) => {
    const { result, durable } = await shared.engine.writeAhead((transaction) => run(context, transaction, append));
    if (result.isWithdrawn) void shared.soon.run();
    return { ...result.appended, durable };
  };
  if (!shared.engine.rowLocks) return write;
  // Units run concurrently; without an order, two messages of one person could change places.
  const lanes = createLanes();
  return (append) => lanes.run([append.conversation], () => write(append));
}

interface AppendContext {
  readonly shared: Shared;
  readonly statements: ReturnType<typeof prepareStatements>;
  readonly insertPosts: InsertPosts;
}

interface Ran {
  readonly appended: Appended;
  /** Whether a reply was deleted that waited to be posted. */
  readonly isWithdrawn: boolean;
}

async function run(context: AppendContext, transaction: Transaction, append: Append): Promise<Ran> {
  const { shared, statements } = context;
  const place = { key: append.conversation, externalId: append.message.externalId };
  const known = await first(transaction, statements.lock(place));
  const row = known ?? (await create(context, transaction, append));
  if (row.duplicate_seq !== null) {
    const appended = { kind: 'duplicate', seq: row.duplicate_seq, conversation: toConversation(row) } as const;
    return { appended, isWithdrawn: false };
  }
  if (!tighterThan(append.audience).includes(presentOf(row))) {
    return await store(context, transaction, { append, row, isNew: known === null });
  }
  // The place opens with this message, but a running reply was written for fewer readers.
  const isWithdrawn = await withdrawReplies(shared, transaction, { ids: [row.id], now: append.now });
  const withdrawn = (await first(transaction, statements.lock(place))) ?? row;
  const stored = await store(context, transaction, { append, row: withdrawn, isNew: false });
  return { ...stored, isWithdrawn: isWithdrawn || stored.isWithdrawn };
}

async function store(
  { shared, statements, insertPosts }: AppendContext,
  transaction: Transaction,
  { append, row, isNew }: { readonly append: Append; readonly row: ConversationRow; readonly isNew: boolean },
): Promise<Ran> {
  const { changed, claim } = accept(row, append, nextEpoch(shared.engine, row.reply_epoch));
  const wantsReply = append.wantsReply ? 1 : 0;
  const entry = { ...newEntry(row, append.message, row.next_seq), wants_reply: wantsReply };
  const answer = append.answer === undefined ? null : newEntry(row, append.answer, row.next_seq + 1);
  const last = answer ?? entry;
  const { rows = [], heldUntil = 0 } = append.posts ?? {};
  const shown = { conversationId: row.id, turn: last.turn ?? last.seq, entrySeq: last.seq, heldUntil };
  const [, , posts] = await together([
    transaction.run(statements.accept(row, changed)),
    together([entry, ...(answer === null ? [] : [answer])].map((each) => shared.entries.insert(transaction, each))),
    insertPosts(transaction, shown, rows),
  ]);
  // The first message of a thread also reveals something about its channel.
  const { audience, now } = append;
  const change = { place: row.place, audience, exceptId: row.id, now };
  const isChange = isNew || changed.present_audience !== presentOf(row);
  const isWithdrawn = isChange && (await changeAudience(shared, transaction, change));
  const conversation = toConversation(changed);
  const added = { seq: row.next_seq, previousActivityAt: row.last_activity_at, posts };
  return { appended: { kind: 'stored', conversation, ...added, claim }, isWithdrawn };
}

type LockedRow = ConversationRow & { readonly duplicate_seq: number | null };

/** Pure: the row after the message, and the claim to answer it if a reply is wanted and no turn is running. */
function accept(
  row: ConversationRow,
  append: Append,
  epoch: number,
): { changed: ConversationRow; claim: Claim | null } {
  const { now, claimLeaseMs } = append;
  const claim =
    append.wantsReply && claimLeaseMs !== null && isFree(row.reply_until, now)
      ? { conversationId: row.id, epoch, until: now + claimLeaseMs }
      : null;
  const changed = {
    ...row,
    audience: tighter(row.audience, append.audience),
    present_audience: append.audience,
    present_from: append.audience === presentOf(row) ? row.present_from : row.next_seq,
    next_seq: row.next_seq + (append.answer === undefined ? 1 : 2),
    last_activity_at: now,
    maintain_at: earliest(row.maintain_at, now + append.idleExtractMs),
    ...(append.wantsReply ? owe(row) : {}),
    ...heard(append),
    reply_epoch: claim?.epoch ?? row.reply_epoch,
    reply_until: claim?.until ?? row.reply_until,
  };
  return { changed, claim };
}

function heard({ message, isImported }: Append): Partial<Pick<ConversationRow, 'heard_id' | 'heard_at'>> {
  if (isImported === true || message.role !== 'user' || message.externalId === null) return {};
  return { heard_id: message.externalId, heard_at: message.at };
}

function owe(row: ConversationRow): Pick<ConversationRow, 'reply_due_seq' | 'reply_due_from'> {
  const isOwed = row.reply_due_seq > row.answered_upto;
  return { reply_due_seq: row.next_seq, reply_due_from: isOwed ? row.reply_due_from : row.next_seq };
}

function newEntry(row: ConversationRow, message: NewMessage, seq: number) {
  return {
    conversation_id: row.id,
    seq,
    external_id: message.externalId,
    role: message.role,
    // Imported messages of the bot answer the messages before them.
    turn: message.role === 'user' ? null : seq - 1,
    author_id: message.author?.id ?? null,
    author_name: message.author?.name ?? null,
    author_kind: message.author?.kind ?? null,
    parts: message.parts,
    reply_to: message.replyTo,
    mentions: writeJson(message.mentions),
    tokens: message.tokens,
    at: message.at,
    request: null,
    wants_reply: 0,
  };
}

async function create(
  { shared, statements }: AppendContext,
  transaction: Transaction,
  append: Append,
): Promise<LockedRow> {
  const values = {
    key: append.conversation,
    place: placeOf(append.conversation),
    audience: append.audience,
    now: append.now,
  };
  await transaction.run(statements.create(values));
  const row = await first(
    transaction,
    statements.lock({ key: append.conversation, externalId: append.message.externalId }),
  );
  if (row === null) throw new Error(`The row of a new conversation is missing in ${shared.engine.name}`);
  return row;
}

interface NewConversation {
  readonly key: ConversationKey;
  readonly place: string;
  readonly audience: Audience;
  readonly now: number;
}

function prepareStatements({ query, rowLocks }: SqlEngine) {
  return {
    lock: prepare((p: Parameter<{ key: ConversationKey; externalId: string | null }>) =>
      query
        .selectFrom('conversation')
        .selectAll()
        .select((select) =>
          select
            .selectFrom('entry')
            .select('seq')
            .whereRef('entry.conversation_id', '=', 'conversation.id')
            .where('external_id', '=', p('externalId'))
            .as('duplicate_seq'),
        )
        .where('key', '=', p('key'))
        .$if(rowLocks, (select) => select.forUpdate()),
    ),
    create: prepare((p: Parameter<NewConversation>) =>
      query
        .insertInto('conversation')
        .values({
          key: p('key'),
          place: p('place'),
          audience: p('audience'),
          next_seq: 1,
          context_from: 1,
          created_at: p('now'),
          last_activity_at: p('now'),
        })
        .onConflict((conflict) => conflict.column('key').doNothing()),
    ),
    accept: prepareUpdate(query, (p) => ({
      audience: p('audience'),
      present_audience: p('present_audience'),
      present_from: p('present_from'),
      next_seq: p('next_seq'),
      last_activity_at: p('last_activity_at'),
      reply_due_seq: p('reply_due_seq'),
      reply_due_from: p('reply_due_from'),
      reply_epoch: p('reply_epoch'),
      reply_until: p('reply_until'),
      heard_id: p('heard_id'),
      heard_at: p('heard_at'),
    })),
  };
}
