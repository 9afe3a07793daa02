import { type Kysely, sql } from 'kysely';
import { describe, type Storage, StrataError } from '../../../src/adapter-kit.ts';
import {
  coreMigrations,
  createArchive,
  createSqlStore,
  identityOf,
  occupied,
  type SqlEngine,
  type Tables,
  writeAheadOf,
} from '../sql/index.ts';
import { checkServer } from './check.ts';
import { explain, isTaken } from './failures.ts';
import type { Links } from './links.ts';
import { migrate } from './migrate.ts';
import { createScrub } from './scrub.ts';
import { createSearch } from './search.ts';
import { createTextIndex, postgresMigrations } from './search-index.ts';
import { createUnits } from './units.ts';

/** A Postgres database, whichever driver connects to it. */
export interface PostgresDatabase {
  readonly links: Links;
  /** The same database, for long work. */
  readonly upkeep: Kysely<Tables>;
  /** When the newest connection was opened. */
  readonly connectedAt: () => number;
  /** Ends all connections at once, also those in use: their statements fail. */
  readonly drop: () => void;
  /** Its URL, for messages. */
  readonly place: string;
  /** Create the tables if there are none. */
  readonly create: boolean;
}

/** A server that takes longer for the last statements is down, or the network is: nothing of them is acknowledged. */
const CLOSE_LIMIT_MS = 2_000;
/** An arbitrary lock number. */
const MEMORY_LOCK = 0x5374726d65;

/** Migrates the tables and creates the store. The database is closed with the store. */
export async function createPostgresStorageOn(database: PostgresDatabase): Promise<Storage> {
  let id = '';
  try {
    const migrations = { ...coreMigrations('identity'), ...postgresMigrations };
    await migrate(database.upkeep, { migrations, place: database.place, create: database.create });
    id = await identityOf(database.upkeep);
  } catch (error) {
    await destroy(database);
    throw refusalOf(database.place, error);
  }
  const engine = createEngine(database);
  const { place } = database;
  const upkeep = { place, id, check: () => checkServer(database.upkeep, place), ...createArchive(engine, place) };
  return { ...createSqlStore(engine), search: createSearch(engine), upkeep };
}

function createEngine(database: PostgresDatabase): SqlEngine {
  const { links, upkeep: query, place } = database;
  const units = createUnits(links, place);
  const memoryLock = sql`select pg_advisory_xact_lock(${sql.lit(MEMORY_LOCK)})`.compile(query);
  let closing: Promise<void> | null = null;
  const close = async () => {
    const late = setInterval(database.drop, CLOSE_LIMIT_MS);
    try {
      await units.close();
      await destroy(database);
    } finally {
      clearInterval(late);
    }
  };
  return {
    name: 'Postgres',
    query,
    read: units.read,
    write: units.write,
    writeAhead: writeAheadOf(units.write),
    rowLocks: true,
    // Whoever claims on the new server has connected since; a lost epoch is smaller.
    leastEpoch: database.connectedAt,
    async lockMemories(transaction) {
      await transaction.rows(memoryLock);
    },
    async numberOn(transaction, table) {
      await transaction.rows(numberOn(table).compile(query));
    },
    // Each query is one round trip either way.
    activeMemories: async () => null,
    knownMemories: () => null,
    memoryMark: () => null,
    index: createTextIndex(query),
    rest: async () => undefined,
    scrub: createScrub(query, place),
    // The server cleans up after a crash itself.
    noteDeletion: async () => undefined,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function numberOn(table: string) {
  const sequence = sql`pg_get_serial_sequence(${sql.lit(table)}, 'id')`;
  return sql`select setval(${sequence}, coalesce(max(id), 1), max(id) is not null) from ${sql.table(table)}`;
}

async function destroy({ links, upkeep }: PostgresDatabase): Promise<void> {
  await links.end();
  await upkeep.destroy();
}

/** At startup, every failure becomes one sentence for the person who started the bot. */
function refusalOf(path: string, error: unknown): unknown {
  if (isTaken(error)) return occupied(path, describe(error));
  const explained = explain(path, error, 'Start the server, or correct STRATA_STORAGE_URL, or url in [storage]');
  if (explained instanceof StrataError || !(error instanceof Error)) return explained;
  return new StrataError('STORE_UNUSABLE', { path, reason: error.message }, { cause: error });
}
