import { PENDING } from '../query/conditions.ts';
import type { SqlEngine, Transaction } from '../query/engine.ts';
import { removeQuotes } from '../rows/conversation-state.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow } from '../schema/tables.ts';
import { redact, withoutReader } from './redaction.ts';

/** Withdraws running and unposted replies of these conversations; they are owed again. Returns whether text was deleted. */
export async function withdrawReplies(
  shared: Shared,
  transaction: Transaction,
  { ids, now }: { readonly ids: readonly number[]; readonly now: number },
): Promise<boolean> {
  let isDeleted = false;
  for (const id of ids) {
    const row = await shared.conversations.lock(transaction, id);
    if (row !== null && (await withdraw(shared, transaction, { row, now }))) isDeleted = true;
  }
  return isDeleted;
}

async function withdraw(
  shared: Shared,
  transaction: Transaction,
  { row, now }: { readonly row: ConversationRow; readonly now: number },
): Promise<boolean> {
  const { engine, conversations } = shared;
  const turns = await unsentTurns(shared, transaction, row.id);
  const [first] = turns;
  if (first === undefined) {
    await conversations.change(transaction, row.id, { revision: row.revision + 1, ...withoutReader(row) });
    return false;
  }
  const said = engine.query.selectFrom('entry').selectAll().where('conversation_id', '=', row.id);
  const entries = await transaction.rows(said.where('turn', 'in', turns).compile());
  await redact(shared, transaction, { row, entries, now, dropMemories: true });
  await conversations.change(transaction, row.id, {
    answered_upto: Math.min(row.answered_upto, first - 1),
    reply_due_from: Math.min(row.reply_due_from, first),
    reply_due_seq: Math.max(row.reply_due_seq, ...turns),
  });
  return true;
}

/** In ascending order. Unasked messages of the bot answer nobody and use no memories. */
async function unsentTurns(
  { engine }: Shared,
  transaction: Transaction,
  conversationId: number,
): Promise<readonly number[]> {
  const unsent = engine.query
    .selectFrom('outbox')
    .select('turn')
    .distinct()
    .where('conversation_id', '=', conversationId)
    .where('state', '=', PENDING)
    .where('unasked_at', 'is', null)
    .orderBy('turn');
  return (await transaction.rows(unsent.compile())).map(({ turn }) => turn);
}

/** The conversations of some places, and others. */
interface Chosen {
  readonly places: readonly string[];
  readonly conversationIds: readonly number[];
}

/**
 * Locks all that a deletion changes at once: turns and jobs take several of these locks in the same order, so that no two
 * transactions wait for each other.
 */
export async function lockInOrder(
  { query, rowLocks }: SqlEngine,
  transaction: Transaction,
  all: Chosen,
): Promise<void> {
  if (rowLocks && !isNone(all)) await transaction.rows(chosen(query, all).forUpdate().compile());
}

function isNone({ places, conversationIds }: Chosen): boolean {
  return places.length + conversationIds.length === 0;
}

function chosen(query: SqlEngine['query'], { places, conversationIds }: Chosen) {
  return query
    .selectFrom('conversation')
    .select('id')
    .where((where) =>
      where.or([
        ...(places.length === 0 ? [] : [where('place', 'in', places)]),
        ...(conversationIds.length === 0 ? [] : [where('id', 'in', conversationIds)]),
      ]),
    )
    .orderBy('id');
}

/**
 * Ends the claims of turns and jobs that may have read what is being forgotten; they start again without it. What may
 * quote it is deleted. The conversations are locked.
 */
export async function interrupt(
  { engine, conversations }: Shared,
  transaction: Transaction,
  { now, ...read }: Chosen & { readonly now: number },
): Promise<void> {
  if (isNone(read)) return;
  const { query } = engine;
  const readers = chosen(query, read);
  const changed = query.updateTable('conversation').set((row) => ({
    revision: row('revision', '+', 1),
    changed_revision: row('revision', '+', 1),
    last_error: null,
  }));
  await transaction.run(changed.where('id', 'in', readers).compile());
  await removeQuotes(engine, transaction, readers.$asScalar());
  const running = await transaction.rows(
    readers
      .where((where) => where.or([where('reply_until', 'is not', null), where('maintenance_until', 'is not', null)]))
      .compile(),
  );
  for (const { id } of running) {
    const row = await conversations.lock(transaction, id);
    if (row === null) continue;
    await conversations.change(transaction, id, {
      reply_epoch: row.reply_epoch + 1,
      reply_until: null,
      maintenance_epoch: row.maintenance_epoch + 1,
      maintenance_until: null,
      maintain_at: Math.min(row.maintain_at ?? now, now),
      maintain_again: 1,
    });
  }
}
