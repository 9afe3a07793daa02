import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { StrataError } from '../../../../src/adapter-kit.ts';
import type { Tables } from '../schema/tables.ts';

export type MigratedTables = Tables & { kysely_migration: { name: string; timestamp: string } };

interface Known {
  readonly migrations: Record<string, Migration>;
  readonly place: string;
}

/** Another program that uses Kysely records its migrations in a table of the same name. */
export function isForeign(done: readonly string[], migrations: Record<string, Migration>): boolean {
  return done.length > 0 && !done.some((name) => Object.hasOwn(migrations, name));
}

/** Whether nothing is left to do. Throws if another program, or a newer Strata, made the tables. */
export function isComplete(done: readonly string[], { migrations, place }: Known): boolean {
  if (isForeign(done, migrations)) throw occupied(place, `kysely_migration says so: ${done[0]}`);
  const unknown = done.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) throw new StrataError('STORE_NEWER', { path: place, found: unknown });
  return done.length === Object.keys(migrations).length;
}

/** The tables there are not Strata's. */
export function occupied(path: string, detail: string): StrataError {
  const reason = `another program has its tables there (${detail})`;
  const remedy = "Give the bot a database of its own, or its own schema as the first one in the user's search_path";
  return new StrataError('STORE_UNUSABLE', { path, reason, remedy });
}

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
