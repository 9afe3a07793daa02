import { type Kysely, type SqlBool, sql } from 'kysely';

export async function indexSubjects({ schema }: Kysely<unknown>): Promise<void> {
  await schema.createIndex('memory_subject').on('memory').column('subject_id').execute();
}

/** The order of every list of memories, and what most lists are filtered by: other rows are skipped without being read. */
const LISTED = [
  'pinned',
  'importance',
  'created_at',
  'id',
  'state',
  'kind',
  'audience',
  'subject_id',
  'scope',
] as const;

/** Makes lists cost what they show, however many memories a place or a person has, and however many posts were sent. */
export async function indexLists(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createIndex('memory_listed')
    .on('memory')
    .columns(['place', ...LISTED])
    .execute();
  await schema.dropIndex('memory_workspace').execute();
  await schema
    .createIndex('memory_workspace')
    .on('memory')
    .columns(['workspace', 'audience', ...LISTED.filter((column) => column !== 'audience')])
    .execute();
  // A place is found by `memory_listed`; SQLite would choose this one instead.
  await schema.dropIndex('memory_statement').execute();
  await schema.createIndex('memory_statement').on('memory').columns(['fingerprint', 'place']).execute();
  await schema.dropIndex('memory_subject').execute();
  await schema.createIndex('memory_subject').on('memory').columns(['subject_id', 'created_at', 'id']).execute();
  await schema.dropIndex('outbox_pending').execute();
  await schema
    .createIndex('outbox_pending')
    .on('outbox')
    .columns(['conversation_id', 'id'])
    .where(sql<SqlBool>`state = 'pending'`)
    .execute();
}
