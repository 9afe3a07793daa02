import type { Kysely } from 'kysely';
import { StrataError } from '../../../src/adapter-kit.ts';
import { applyMigrations, coreMigrations, isComplete, type MigratedTables, type Tables } from '../sql/index.ts';
import { searchMigrations } from './search-index.ts';

const MIGRATIONS = { ...coreMigrations('autoincrement'), ...searchMigrations };

/** Migrates the tables in one transaction. If a migration is unknown, a newer program created it, and nothing is changed. */
export async function migrate(
  query: Kysely<Tables>,
  { place, create }: { readonly place: string; readonly create: boolean },
): Promise<void> {
  const database = query.withTables<Pick<MigratedTables, 'kysely_migration'>>();
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const isNew = !tables.some(({ name }) => name === 'kysely_migration');
  if (isNew && !create) throw new StrataError('STORE_MISSING', { path: place });
  const rows = isNew ? [] : await database.selectFrom('kysely_migration').select('name').execute();
  const done = rows.map(({ name }) => name);
  if (isComplete(done, { migrations: MIGRATIONS, place })) return;
  await database.transaction().execute((open) => applyMigrations(open, { migrations: MIGRATIONS, done }));
}
