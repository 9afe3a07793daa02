import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { StrataError } from '../../../src/adapter-kit.ts';
import { applyMigrations, isComplete, isForeign, type MigratedTables, type Tables } from '../sql/index.ts';

export interface Migrating {
  readonly migrations: Record<string, Migration>;
  readonly place: string;
  readonly create: boolean;
}

type Database = Kysely<MigratedTables>;

/** An arbitrary lock number, which lets one process at a time change the tables. */
const LOCK = 0x5374726174;

/**
 * Migrates the tables in one transaction, however many processes start at once. If a migration is unknown, a newer
 * program created it, and nothing is changed.
 */
export async function migrate(query: Kysely<Tables>, { migrations, place, create }: Migrating): Promise<void> {
  const database: Database = query.withTables<{ kysely_migration: { name: string; timestamp: string } }>();
  const found = await doneMigrations(database, migrations);
  if (isComplete(found, { migrations, place })) return;
  if (!create && found.length === 0) throw new StrataError('STORE_MISSING', { path: place });
  await database.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(transaction);
    const done = await doneMigrations(transaction, migrations);
    if (isComplete(done, { migrations, place })) return;
    await checkEncoding(transaction, place);
    await applyMigrations(transaction, { migrations, done });
  });
}

/** Of the first schema of the search path that has any. Those of another program do no harm in a later one. */
async function doneMigrations(database: Database, migrations: Migrating['migrations']): Promise<readonly string[]> {
  const { rows: tables } = await sql<{ isFirst: boolean }>`
    select relnamespace::regnamespace = current_schema()::regnamespace as "isFirst"
    from pg_class where oid = to_regclass('kysely_migration')`.execute(database);
  const [table] = tables;
  if (table === undefined) return [];
  const rows = await database.selectFrom('kysely_migration').select('name').execute();
  const done = rows.map((row) => row.name);
  return !table.isFirst && isForeign(done, migrations) ? [] : done;
}

/** Text of any script must fit. */
async function checkEncoding(database: Database, place: string): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`select current_setting('server_encoding') as encoding`.execute(
    database,
  );
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  const reason = `its encoding is ${encoding}; create one with \`create database ... encoding 'UTF8' template template0\``;
  throw new StrataError('STORE_UNUSABLE', { path: place, reason });
}
