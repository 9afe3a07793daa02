import { Kysely, SqliteDialect } from 'kysely';
import type { Storage } from '../../../src/index.ts';
import { coreMigrations, createArchive, createSqlStore, type SqlEngine, type Tables } from '../sql/index.ts';
import { checkFile } from './check.ts';
import { coalesce } from './coalesce.ts';
import { type Connection, createConnection, explain } from './connection.ts';
import { createGroupCommit, createTransaction } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { type OpenedFile, openFile } from './open.ts';
import { createSearch } from './search.ts';
import { createTextIndex, searchMigrations } from './search-index.ts';

export interface SqliteOptions {
  /** Holds `strata.db` and its lock; made when it is missing. */
  readonly directory: string;
  /** Let other processes of this machine use it too. Without it there is one at a time, which is faster. Default false. */
  readonly shared?: boolean;
  /** False throws `STORE_MISSING` where there is no data yet. Default true: it is made. */
  readonly create?: boolean;
}

/** Everything in one file, durable with every answer. */
export async function createSqliteStorage({
  directory,
  shared = false,
  create = true,
}: SqliteOptions): Promise<Storage> {
  const file = openFile({ directory, shared, create });
  const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database: file.database }) });
  const connection = createConnection(file.database);
  try {
    const migrations = { ...coreMigrations('autoincrement'), ...searchMigrations(createTransaction(connection)) };
    await migrate({ database: file.database, query, migrations, path: directory, isAlone: file.lock.isAlone });
    if (file.lock.isAlone) freeClaims(file.database);
    file.lock.share();
  } catch (error) {
    file.database.close();
    file.lock.release();
    throw explain(directory, error);
  }
  const engine = createEngine({ lock: file.lock, query, connection, shared });
  const upkeep = { place: directory, check: () => checkFile(engine), ...createArchive(engine, directory) };
  return { ...createSqlStore(engine), search: createSearch(engine, connection), upkeep };
}

/**
 * Whoever is alone knows that the holders of claims are dead. A reply is claimed only while it is owed; each condition is
 * that of a partial index, so that the cost is what is held and not what is kept.
 */
function freeClaims(database: OpenedFile['database']): void {
  database.exec(`
    update conversation set reply_until = null where reply_due_seq > answered_upto and reply_until is not null;
    update conversation set maintenance_until = null where maintenance_until is not null;
    update outbox set held_until = 0 where state = 'pending' and held_until > 0`);
}

interface EngineParts {
  readonly lock: OpenedFile['lock'];
  readonly query: Kysely<Tables>;
  readonly connection: Connection;
  readonly shared: boolean;
}

function createEngine({ lock, query, connection, shared }: EngineParts): SqlEngine {
  const group = createGroupCommit(connection);
  const wipeFrom = (offset: number) => () => connection.wipe(offset);
  let closing: Promise<void> | null = null;
  const close = async () => {
    await group.close();
    connection.close();
    lock.release();
  };
  return {
    name: 'SQLite',
    query,
    read: group.read,
    write: group.write,
    rowLocks: false,
    // One unit writes at a time.
    lockMemories: async () => undefined,
    // It counts on from the highest number by itself.
    numberOn: async () => undefined,
    index: createTextIndex(query),
    scrub: coalesce(async () => {
      // The file's pages may only be touched while no other process has them in its memory.
      if (shared) return group.alone(connection.writeBack);
      let from: number | null = 0;
      while (from !== null) from = await group.alone(wipeFrom(from));
    }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
