import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { StrataError } from '../../../src/adapter-kit.ts';
import { applyMigrations, isComplete, type MigratedTables, type Tables } from '../sql/index.ts';
import type { DirectoryLock } from './lock.ts';

export interface Migrating {
  readonly database: Database.Database;
  readonly query: Kysely<Tables>;
  readonly migrations: Record<string, Migration>;
  readonly path: string;
  readonly lock: Pick<DirectoryLock, 'becomeAlone'>;
}

const OLDER_IN_USE = 'processes of an older Strata are using it; stop all of them so that the tables can be migrated';

/** Migrates the tables. If a migration is unknown, a newer program created it, and nothing is changed. */
export async function migrate({ database, query, migrations, path, lock }: Migrating): Promise<void> {
  const doneOf = () => {
    const done = doneMigrations(database);
    return isComplete(done, { migrations, place: path }) ? null : done;
  };
  if (doneOf() === null) return;
  if (!lock.becomeAlone()) throw new StrataError('STORE_UNUSABLE', { path, reason: OLDER_IN_USE });
  // Of processes that start together, another one may have been first.
  const done = doneOf();
  if (done === null) return;
  const tables = query.withTables<Pick<MigratedTables, 'kysely_migration'>>();
  // Kysely's own migrator uses no transaction here, so a killed process would leave half a change behind.
  database.exec('begin immediate');
  try {
    await applyMigrations(tables, { migrations, done });
    database.exec('commit');
  } catch (error) {
    // SQLite has already rolled back if the disk is full.
    if (database.inTransaction) database.exec('rollback');
    throw error;
  }
}

function doneMigrations(database: Database.Database): readonly string[] {
  const tables = database.prepare("select 1 from sqlite_schema where name = 'kysely_migration'").all();
  if (tables.length === 0) return [];
  return database
    .prepare<[], { name: string }>('select name from kysely_migration')
    .all()
    .map((row) => row.name);
}
