import { type Kysely, sql } from 'kysely';
import { zero } from '../schema/columns.ts';

/** Which of the messages that wait had asked was not stored, so each of them counts. */
export async function noteWaiting(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('entry').addColumn('wants_reply', 'bigint', zero).execute();
  await sql`
    update entry set wants_reply = 1 from conversation
    where conversation.id = entry.conversation_id and conversation.reply_due_seq > conversation.answered_upto
      and entry.role = 'user' and entry.seq > conversation.answered_upto
      and entry.seq between conversation.reply_due_from and conversation.reply_due_seq
  `.execute(database);
}
