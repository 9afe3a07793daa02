import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Tables } from './tables.ts';

export type MigratedTables = Tables & { kysely_migration: { name: string; timestamp: string } };

/** Runs pending migrations in order of their names. The caller's transaction makes this all or nothing. */
export async function applyMigrations(
  database: Kysely<MigratedTables>,
  { migrations, done }: { readonly migrations: Record<string, Migration>; readonly done: readonly string[] },
): Promise<void> {
  const table = database.schema.createTable('kysely_migration').ifNotExists();
  await table
    .addColumn('name', 'varchar(255)', (column) => column.primaryKey())
    .addColumn('timestamp', 'varchar(255)', (column) => column.notNull())
    .execute();
  const pending = Object.entries(migrations).filter(([name]) => !done.includes(name));
  for (const [name, { up }] of pending.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    await up(database);
    const row = { name, timestamp: new Date().toISOString() };
    await database.insertInto('kysely_migration').values(row).execute();
  }
}
