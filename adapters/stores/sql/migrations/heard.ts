import { type Kysely, type SqlBool, sql } from 'kysely';

/** The migration after which a conversation's row names the newest message of a person. */
export const HEARD = '0003_heard';

export async function addHeard(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('conversation').addColumn('heard_id', 'text').execute();
  await database.schema.alterTable('conversation').addColumn('heard_at', 'bigint').execute();
  await NOTE_HEARD.execute(database);
  await database.schema
    .createIndex('conversation_heard')
    .on('conversation')
    .columns(['heard_at', 'id'])
    .where(sql<SqlBool>`heard_at is not null`)
    .execute();
  // At startup, releases what a dead process held, without reading every conversation.
  await database.schema
    .createIndex('conversation_maintained')
    .on('conversation')
    .column('maintenance_until')
    .where(sql<SqlBool>`maintenance_until is not null`)
    .execute();
}

/** Fills it in where it is missing: in rows of an older version. */
export const NOTE_HEARD = sql`
  update conversation set (heard_id, heard_at) = (
    select external_id, at from entry
    where entry.conversation_id = conversation.id and role = 'user' and external_id is not null
    order by seq desc limit 1)
  where heard_at is null`;
