import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { StrataError } from '../../../src/adapter-kit.ts';
import { applyMigrations, type MigratedTables, type Tables } from '../sql/index.ts';

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
  const found = await doneMigrations(database);
  if (isComplete(found, { migrations, place })) return;
  if (!create && found.length === 0) throw new StrataError('STORE_MISSING', { path: place });
  await database.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(transaction);
    const done = await doneMigrations(transaction);
    if (isComplete(done, { migrations, place })) return;
    await checkEncoding(transaction, place);
    await applyMigrations(transaction, { migrations, done });
  });
}

function isComplete(done: readonly string[], { migrations, place }: Omit<Migrating, 'create'>): boolean {
  const unknown = done.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) throw new StrataError('STORE_NEWER', { path: place, found: unknown });
  return done.length === Object.keys(migrations).length;
}

async function doneMigrations(database: Database): Promise<readonly string[]> {
  const table = await sql<{ found: string | null }>`select to_regclass('kysely_migration') as found`.execute(database);
  if (table.rows[0]?.found === null) return [];
  const rows = await database.selectFrom('kysely_migration').select('name').execute();
  return rows.map((row) => row.name);
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
