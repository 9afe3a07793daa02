import type { Kysely } from 'kysely';
import { ofConversation, required } from '../schema/columns.ts';

/** Which reply was given which memories, and which sentences wait for a decision. */
export async function createProvenanceTables(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('memory_reading')
    .addColumn('memory_id', 'text', (column) => column.notNull().references('memory.id').onDelete('cascade'))
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('from_seq', 'bigint', required)
    .addPrimaryKeyConstraint('memory_reading_key', ['memory_id', 'conversation_id'])
    .execute();
  await database.schema
    .createIndex('memory_reading_conversation')
    .on('memory_reading')
    .column('conversation_id')
    .execute();
  await database.schema
    .createTable('held')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('seq', 'bigint', required)
    .addColumn('text', 'text', required)
    .addColumn('about_id', 'text', required)
    .addColumn('about_name', 'text', required)
    .addColumn('at', 'bigint', required)
    .execute();
  await database.schema.createIndex('held_entry').on('held').columns(['conversation_id', 'seq']).execute();
}
