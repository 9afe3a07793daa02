import type { Kysely } from 'kysely';
import { zero } from '../schema/columns.ts';

export async function addPresentAudience(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('conversation').addColumn('present_audience', 'text').execute();
  await database.schema.alterTable('conversation').addColumn('present_from', 'bigint', zero).execute();
}

/** What edits added to messages and memories. */
export async function addAdditions(database: Kysely<unknown>): Promise<void> {
  for (const table of ['entry', 'memory']) {
    await database.schema.alterTable(table).addColumn('added', 'text').execute();
  }
}
