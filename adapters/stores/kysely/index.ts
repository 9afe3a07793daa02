import { type Dialect, Kysely, sql } from 'kysely';
import { describe, type Storage, StrataError } from '../../../src/adapter-kit.ts';
import { createArchive, createSqlStore, identityOf, type SqlEngine, type Tables, writeAheadOf } from '../sql/index.ts';
import { checkDatabase } from './check.ts';
import { migrate } from './migrate.ts';
import { createScrub } from './scrub.ts';
import { createSearch } from './search.ts';
import { createTextIndex } from './search-index.ts';
import { createUnits } from './units.ts';

/** The options of `createKyselyStorage`. */
export interface KyselyOptions {
  /** Connects to the database, which must speak the SQL of SQLite 3.35 or newer. Nothing else may write to it. */
  readonly dialect: Dialect;
  /** Where the data is stored, for messages; without secrets. */
  readonly place: string;
  /** False throws `STORE_MISSING` if there are no tables yet. Default true: they are created. */
  readonly create?: boolean;
}

const NO_DIALECT = 'createKyselyStorage needs a dialect of Kysely, for example new SqliteDialect({ database }).';

/**
 * Stores everything through a dialect of Kysely: in `node:sqlite`, libSQL, Bun or another database that speaks the SQL
 * of SQLite. For one process at a time. A write is as durable as a commit of the database. Throws `STORE_UNUSABLE`,
 * `STORE_MISSING` and `STORE_NEWER`. Example: `examples/own-store.ts`.
 */
export async function createKyselyStorage(options: KyselyOptions): Promise<Storage> {
  const { dialect, place, create = true } = options ?? {};
  if (typeof dialect?.createDriver !== 'function') throw new StrataError('USAGE', { problem: NO_DIALECT });
  const query = new Kysely<Tables>({ dialect });
  let id = '';
  try {
    await prepareConnection(query, place);
    await migrate(query, { place, create });
    id = await identityOf(query);
  } catch (error) {
    await query.destroy();
    if (error instanceof StrataError) throw error;
    throw new StrataError('STORE_UNUSABLE', { path: place, reason: describe(error) }, { cause: error });
  }
  const engine = createEngine(query, place);
  // Deleted text that an earlier process left in the log.
  await engine.scrub();
  const upkeep = { place, id, check: () => checkDatabase(engine), ...createArchive(engine, place) };
  return { ...createSqlStore(engine), search: createSearch(engine), upkeep };
}

/** Rows that refer to a deleted one are deleted with it, and deleted text is overwritten where it was stored. */
async function prepareConnection(query: Kysely<Tables>, path: string): Promise<void> {
  try {
    await sql`pragma foreign_keys = on`.execute(query);
    await sql`pragma secure_delete = on`.execute(query);
  } catch (error) {
    const reason = `its dialect does not connect to a database that speaks the SQL of SQLite (${describe(error)})`;
    throw new StrataError('STORE_UNUSABLE', { path, reason }, { cause: error });
  }
  const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(query);
  if (rows[0]?.foreign_keys === 1) return;
  const reason = 'its connections ignore foreign keys; run `pragma foreign_keys = on` in each new connection';
  throw new StrataError('STORE_UNUSABLE', { path, reason });
}

function createEngine(query: Kysely<Tables>, place: string): SqlEngine {
  const units = createUnits(query, place);
  return {
    name: place,
    query,
    read: units.run,
    write: units.run,
    writeAhead: writeAheadOf(units.run),
    rowLocks: false,
    leastEpoch: () => 0,
    // One unit runs at a time.
    lockMemories: async () => undefined,
    // The numbering continues after the highest number.
    numberOn: async () => undefined,
    activeMemories: async () => null,
    knownMemories: () => null,
    memoryMark: () => null,
    index: createTextIndex(query),
    rest: async () => undefined,
    scrub: createScrub(query, units),
    // Every start scrubs.
    noteDeletion: async () => undefined,
    close: units.close,
  };
}
