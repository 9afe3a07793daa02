import { type CreateTableBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { createCacheTables } from '../records/cache-losses.ts';
import { indexPosted } from '../records/posts.ts';
import { CONVERSATION_STATE_MIGRATIONS, createStateTable } from '../rows/conversation-state.ts';
import { createReadyTable } from '../rows/ready-summaries.ts';
import { ofConversation, required, zero } from '../schema/columns.ts';
import { createIdentityTable } from '../schema/identity.ts';
import { addAdditions, addPresentAudience } from './added-columns.ts';
import { addHeard, HEARD } from './heard.ts';
import { indexLists, indexSubjects } from './list-indexes.ts';
import { createProvenanceTables } from './provenance-tables.ts';
import { createRequestTables, indexRequests } from './request-tables.ts';
import { rebuildUsage, USAGE_BY_DAY } from './usage-table.ts';
import { noteWaiting } from './wants-reply.ts';

/** How an engine numbers rows. */
export type RowIds = 'autoincrement' | 'identity';

/** Sorted by name. A released migration is never changed; a new one follows it. */
export function coreMigrations(rowIds: RowIds): Record<string, Migration> {
  return {
    '0001_core': {
      async up(database: Kysely<unknown>): Promise<void> {
        await createConversations(database, rowIds);
        await createEntries(database);
        await createSummaries(database);
        await createMemories(database);
        await createMemoryHistory(database, rowIds);
        await createOutbox(database, rowIds);
        await createBooks(database);
      },
    },
    '0002_post_holds': {
      up: (database: Kysely<unknown>) =>
        database.schema.alterTable('outbox').addColumn('held_until', 'bigint', zero).execute(),
    },
    [HEARD]: { up: addHeard },
    '0004_provenance': { up: createProvenanceTables },
    '0005_present_audience': { up: addPresentAudience },
    '0006_memory_subject': { up: indexSubjects },
    '0007_unasked_posts': {
      up: (tables: Kysely<unknown>) => tables.schema.alterTable('outbox').addColumn('unasked_at', 'bigint').execute(),
    },
    [USAGE_BY_DAY]: { up: rebuildUsage },
    '0010_cache_losses': { up: createCacheTables },
    '0011_lost_specifics': {
      up: (database: Kysely<unknown>) => database.schema.alterTable('summary').addColumn('lost', 'text').execute(),
    },
    '0012_requests': { up: createRequestTables },
    '0013_ready_summaries': { up: createReadyTable },
    '0014_request_indexes': { up: indexRequests },
    '0015_posted_messages': { up: indexPosted },
    ...CONVERSATION_STATE_MIGRATIONS,
    '0022_identity': { up: createIdentityTable },
    '0023_wants_reply': { up: noteWaiting },
    '0024_additions': { up: addAdditions },
    '0025_list_indexes': { up: indexLists },
  };
}

export function coreMigrationNames(): readonly string[] {
  return Object.keys(coreMigrations('identity'));
}

function withId<Table extends string, Columns extends string>(
  table: CreateTableBuilder<Table, Columns>,
  rowIds: RowIds,
): CreateTableBuilder<Table, Columns | 'id'> {
  return rowIds === 'autoincrement'
    ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    : table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity());
}

async function createConversations(database: Kysely<unknown>, rowIds: RowIds): Promise<void> {
  await withId(database.schema.createTable('conversation'), rowIds)
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .addColumn('place', 'text', required)
    .addColumn('audience', 'text', required)
    .addColumn('next_seq', 'bigint', required)
    .addColumn('compacted_upto', 'bigint', zero)
    .addColumn('context_from', 'bigint', required)
    .addColumn('extracted_upto', 'bigint', zero)
    .addColumn('reply_due_seq', 'bigint', zero)
    .addColumn('answered_upto', 'bigint', zero)
    .addColumn('reply_due_from', 'bigint', zero)
    .addColumn('revision', 'bigint', zero)
    .addColumn('reply_epoch', 'bigint', zero)
    .addColumn('reply_until', 'bigint')
    .addColumn('maintenance_epoch', 'bigint', zero)
    .addColumn('maintenance_until', 'bigint')
    .addColumn('maintenance_revision', 'bigint', zero)
    .addColumn('maintain_at', 'bigint')
    .addColumn('maintain_again', 'bigint', zero)
    .addColumn('failures', 'bigint', zero)
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('last_error', 'text')
    .addColumn('calibration', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('last_activity_at', 'bigint', required)
    .execute();
  await database.schema.createIndex('conversation_place').on('conversation').column('place').execute();
  await database.schema
    .createIndex('conversation_maintain')
    .on('conversation')
    .column('maintain_at')
    .where(sql<SqlBool>`maintain_at is not null`)
    .execute();
  await database.schema
    .createIndex('conversation_owing')
    .on('conversation')
    .column('last_activity_at')
    .where(sql<SqlBool>`reply_due_seq > answered_upto`)
    .execute();
}

async function createEntries(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('entry')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('seq', 'bigint', required)
    .addColumn('external_id', 'text')
    .addColumn('role', 'text', required)
    .addColumn('turn', 'bigint')
    .addColumn('author_id', 'text')
    .addColumn('author_name', 'text')
    .addColumn('author_kind', 'text')
    .addColumn('parts', 'text', required)
    .addColumn('reply_to', 'text')
    .addColumn('mentions', 'text', required)
    .addColumn('tokens', 'bigint', required)
    .addColumn('at', 'bigint', required)
    .addColumn('edited_at', 'bigint')
    .addColumn('redacted_at', 'bigint')
    .addColumn('changed_revision', 'bigint')
    .addPrimaryKeyConstraint('entry_key', ['conversation_id', 'seq'])
    .addUniqueConstraint('entry_external', ['conversation_id', 'external_id'])
    .execute();
}

async function createSummaries(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('summary')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('level', 'bigint', required)
    .addColumn('kind', 'text', required)
    .addColumn('from_seq', 'bigint', required)
    .addColumn('to_seq', 'bigint', required)
    .addColumn('text', 'text', required)
    .addColumn('tokens', 'bigint', required)
    .addColumn('model', 'text')
    .addColumn('prompt_hash', 'text')
    .addColumn('stale', 'bigint', zero)
    .addColumn('superseded_by', 'text')
    .addColumn('created_at', 'bigint', required)
    .execute();
  await database.schema
    .createIndex('summary_live')
    .on('summary')
    .columns(['conversation_id', 'from_seq', 'to_seq'])
    .where(sql<SqlBool>`superseded_by is null`)
    .execute();
  await database.schema.createIndex('summary_range').on('summary').columns(['conversation_id', 'to_seq']).execute();
  await database.schema.createIndex('summary_children').on('summary').column('superseded_by').execute();
}

async function createMemories(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('memory')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('agent_id', 'text', required)
    .addColumn('kind', 'text', required)
    .addColumn('text', 'text', required)
    .addColumn('importance', 'double precision', required)
    .addColumn('confidence', 'double precision', required)
    .addColumn('scope', 'text', required)
    .addColumn('place', 'text', required)
    .addColumn('workspace', 'text', required)
    .addColumn('audience', 'text', required)
    .addColumn('subject_id', 'text')
    .addColumn('subject_name', 'text')
    .addColumn('trust', 'text', required)
    .addColumn('state', 'text', required)
    .addColumn('pinned', 'bigint', required)
    .addColumn('valid_from', 'bigint', required)
    .addColumn('valid_until', 'bigint')
    .addColumn('superseded_by', 'text')
    .addColumn('recall_count', 'bigint', zero)
    .addColumn('last_recalled_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .addColumn('fingerprint', 'text', required)
    .addColumn('extracted_by', 'text')
    .execute();
  await database.schema.createIndex('memory_statement').on('memory').columns(['place', 'fingerprint']).execute();
  await database.schema.createIndex('memory_workspace').on('memory').columns(['workspace', 'audience']).execute();
  await database.schema.createIndex('memory_scope').on('memory').column('scope').execute();
  await database.schema.createIndex('memory_successor').on('memory').column('superseded_by').execute();
}

async function createMemoryHistory(database: Kysely<unknown>, rowIds: RowIds): Promise<void> {
  await database.schema
    .createTable('memory_source')
    .addColumn('memory_id', 'text', (column) => column.notNull().references('memory.id').onDelete('cascade'))
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('seq', 'bigint', required)
    .addPrimaryKeyConstraint('memory_source_key', ['memory_id', 'conversation_id', 'seq'])
    .execute();
  await database.schema
    .createIndex('memory_source_entry')
    .on('memory_source')
    .columns(['conversation_id', 'seq'])
    .execute();
  await withId(database.schema.createTable('memory_event'), rowIds)
    .addColumn('memory_id', 'text', (column) => column.notNull().references('memory.id').onDelete('cascade'))
    .addColumn('kind', 'text', required)
    .addColumn('at', 'bigint', required)
    .addColumn('actor', 'text', required)
    .addColumn('detail', 'text', required)
    .execute();
  await database.schema.createIndex('memory_event_memory').on('memory_event').column('memory_id').execute();
  await database.schema
    .createTable('tombstone')
    .addColumn('place', 'text', required)
    .addColumn('fingerprint', 'text', required)
    .addColumn('at', 'bigint', required)
    .addPrimaryKeyConstraint('tombstone_key', ['place', 'fingerprint'])
    .execute();
}

async function createOutbox(database: Kysely<unknown>, rowIds: RowIds): Promise<void> {
  await withId(database.schema.createTable('outbox'), rowIds)
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('turn', 'bigint', required)
    .addColumn('entry_seq', 'bigint')
    .addColumn('chunk', 'bigint', required)
    .addColumn('nonce', 'text', required)
    .addColumn('body', 'text')
    .addColumn('reply_to', 'text')
    .addColumn('state', 'text', required)
    .addColumn('attempts', 'bigint', zero)
    .addColumn('platform_message_id', 'text')
    .addColumn('reason', 'text')
    .execute();
  await database.schema
    .createIndex('outbox_pending')
    .on('outbox')
    .column('id')
    .where(sql<SqlBool>`state = 'pending'`)
    .execute();
  await database.schema
    .createIndex('outbox_message')
    .on('outbox')
    .columns(['conversation_id', 'platform_message_id'])
    .execute();
  await database.schema.createIndex('outbox_entry').on('outbox').columns(['conversation_id', 'entry_seq']).execute();
}

async function createBooks(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('blob')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('text', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .execute();
  await database.schema.createIndex('blob_conversation').on('blob').column('conversation_id').execute();
  await database.schema.createIndex('blob_age').on('blob').column('created_at').execute();
  await database.schema
    .createTable('usage')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('purpose', 'text', required)
    .addColumn('model', 'text', required)
    .addColumn('calls', 'bigint', required)
    .addColumn('input_tokens', 'bigint', required)
    .addColumn('output_tokens', 'bigint', required)
    .addColumn('cache_read_tokens', 'bigint', required)
    .addColumn('cache_write_tokens', 'bigint', required)
    .addColumn('last_at', 'bigint', required)
    .addPrimaryKeyConstraint('usage_key', ['conversation_id', 'purpose', 'model'])
    .execute();
  await database.schema
    .createTable('maintenance_run')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('started_at', 'bigint', required)
    .addColumn('run', 'text', required)
    .execute();
  await database.schema
    .createIndex('maintenance_run_newest')
    .on('maintenance_run')
    .columns(['conversation_id', 'started_at'])
    .execute();
  await createStateTable(database);
}
