import { type Kysely, type SqlBool, sql } from 'kysely';
import { ofConversation, required } from '../schema/columns.ts';

/** What the requests behind replies were built from. */
export async function createRequestTables(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('entry').addColumn('request', 'text').execute();
  await database.schema
    .createTable('request_part')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('text', 'text', required)
    .execute();
  await database.schema
    .createTable('request_link')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('hash', 'text', required)
    .addPrimaryKeyConstraint('request_link_key', ['conversation_id', 'hash'])
    .execute();
  await database.schema.createIndex('request_link_part').on('request_link').column('hash').execute();
}

/** Most messages have no note, and few change later. */
export async function indexRequests(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createIndex('entry_noted')
    .on('entry')
    .columns(['conversation_id', 'seq'])
    .where(sql<SqlBool>`request is not null`)
    .execute();
  await database.schema
    .createIndex('entry_changed')
    .on('entry')
    .columns(['conversation_id', 'seq'])
    .where(sql<SqlBool>`changed_revision is not null`)
    .execute();
}
