import { PENDING } from './conditions.ts';
import type { Transaction } from './engine.ts';
import { redact, withoutReader } from './redaction.ts';
import type { Shared } from './shared.ts';
import type { ConversationRow } from './tables.ts';

/** Withdraws running and unposted replies of these conversations; they are owed again. */
export async function withdrawReplies(
  shared: Shared,
  transaction: Transaction,
  { ids, now }: { readonly ids: readonly number[]; readonly now: number },
): Promise<void> {
  for (const id of ids) {
    const row = await shared.conversations.lock(transaction, id);
    if (row !== null) await withdraw(shared, transaction, { row, now });
  }
}

async function withdraw(
  shared: Shared,
  transaction: Transaction,
  { row, now }: { readonly row: ConversationRow; readonly now: number },
): Promise<void> {
  const { engine, conversations } = shared;
  const turns = await unsentTurns(shared, transaction, row.id);
  const [first] = turns;
  if (first === undefined) {
    return await conversations.change(transaction, row.id, { revision: row.revision + 1, ...withoutReader(row) });
  }
  const said = engine.query.selectFrom('entry').selectAll().where('conversation_id', '=', row.id);
  const entries = await transaction.rows(said.where('turn', 'in', turns).compile());
  await redact(shared, transaction, { row, entries, now, dropMemories: true });
  await conversations.change(transaction, row.id, {
    answered_upto: Math.min(row.answered_upto, first - 1),
    reply_due_from: Math.min(row.reply_due_from, first),
    reply_due_seq: Math.max(row.reply_due_seq, ...turns),
  });
}

/** Ascending. Unasked messages of the bot answer nobody and use no memories. */
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
