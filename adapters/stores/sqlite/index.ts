import { Kysely, sql } from 'kysely';
import { type Storage, StrataError } from '../../../src/adapter-kit.ts';
import {
  coreMigrations,
  createArchive,
  createSqlStore,
  identityOf,
  type SqlEngine,
  type Tables,
} from '../sql/index.ts';
import { createActiveMemories } from './active-memories.ts';
import { checkFile } from './check.ts';
import { type Connection, createConnection } from './connection.ts';
import { createDialect } from './dialect.ts';
import { explain } from './failures.ts';
import { createGroupCommit, createTransaction } from './group-commit.ts';
import { createLateIndex, withLateEntries } from './late-index.ts';
import { type MemoryWatch, watchMemories } from './memory-watch.ts';
import { migrate } from './migrate.ts';
import { type OpenedFile, openFile } from './open.ts';
import { createScrub } from './scrub.ts';
import { createSearch } from './search.ts';
import { createTextIndex, searchMigrations } from './search-index.ts';

/** The options of `createSqliteStorage`. Only the directory is required. */
export interface SqliteOptions {
  /** The folder of `strata.db` and its lock. Created if missing. */
  readonly directory: string;
  /** Allow other processes of this machine to use it too. An exclusive process is faster. Default false. */
  readonly shared?: boolean;
  /** False throws `STORE_MISSING` if there is no data yet. Default true: it is created. */
  readonly create?: boolean;
}

const NO_DIRECTORY = 'createSqliteStorage needs a directory, for example { directory: "data" }.';

/** Stores everything in one file, durable with every response. */
export async function createSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { directory, shared = false, create = true } = options ?? {};
  if (typeof directory !== 'string' || directory === '') throw new StrataError('USAGE', { problem: NO_DIRECTORY });
  const file = openFile({ directory, shared, create });
  const query = new Kysely<Tables>({ dialect: createDialect(file.database) });
  const connection = createConnection(file.database);
  let id = '';
  try {
    const migrations = { ...coreMigrations('autoincrement'), ...searchMigrations(createTransaction(connection)) };
    await migrate({ database: file.database, query, migrations, path: directory, lock: file.lock });
    id = await identityOf(query);
    if (file.lock.isAlone) freeClaims(file.database);
    file.lock.share();
  } catch (error) {
    file.database.close();
    file.lock.release();
    throw explain(directory, error);
  }
  const watch = watchMemories(file.database);
  const { engine, lateIndex } = createEngine({ lock: file.lock, query, connection, watch, shared });
  await finishScrub(engine);
  const upkeep = { place: directory, id, check: () => checkFile(engine), ...createArchive(engine, directory) };
  return { ...createSqlStore(engine), search: createSearch({ engine, connection, lateIndex }), upkeep };
}

/**
 * An exclusive process knows that the holders of claims are dead. A reply is claimed only while it is owed. Each
 * condition matches a partial index, so the cost depends on what is held, not on what is stored.
 */
function freeClaims(database: OpenedFile['database']): void {
  database.exec(`
    update conversation set reply_until = null where reply_due_seq > answered_upto and reply_until is not null;
    update conversation set maintenance_until = null where maintenance_until is not null;
    update outbox set held_until = 0 where state = 'pending' and held_until > 0`);
}

/**
 * What the last process could not scrub; in the background, because it may take long and another program may prevent
 * it.
 */
async function finishScrub(engine: SqlEngine): Promise<void> {
  const { owed } = prepareDeletion(engine.query);
  const rows = await engine.read((transaction) => transaction.rows(owed.compile()));
  if (rows.length > 0) engine.scrub().catch(() => undefined);
}

/** Counts the deletions of text whose traces may still be in the files. */
function prepareDeletion(query: Kysely<Tables>) {
  const note = { namespace: 'store', key: 'scrub', value: '1' };
  const own = query.deleteFrom('state').where('namespace', '=', note.namespace).where('key', '=', note.key);
  return {
    note: query
      .insertInto('state')
      .values(note)
      .onConflict((conflict) =>
        conflict.columns(['namespace', 'key']).doUpdateSet({ value: sql<string>`cast(state.value + 1 as text)` }),
      )
      .compile(),
    owed: query.selectFrom('state').select('value').where('namespace', '=', note.namespace).where('key', '=', note.key),
    /** Those up to this count. */
    settle: (owed: string) => own.where('value', '=', owed).compile(),
  };
}

interface EngineOptions {
  readonly lock: OpenedFile['lock'];
  readonly query: Kysely<Tables>;
  readonly connection: Connection;
  readonly watch: MemoryWatch;
  readonly shared: boolean;
}

function createEngine({ lock, query, connection, watch, shared }: EngineOptions) {
  const group = createGroupCommit(connection);
  const deletion = prepareDeletion(query);
  const owed = async () => (await group.read((transaction) => transaction.rows(deletion.owed.compile())))[0]?.value;
  const settle = async (upto: string) => void (await group.write((tx) => tx.run(deletion.settle(upto))));
  const textIndex = createTextIndex(query);
  const lateIndex = createLateIndex({ query, connection, group, index: textIndex });
  const scrub = createScrub({ group, connection, shared, owed, cleared: lateIndex.cleared, settle });
  let closing: Promise<void> | null = null;
  const close = async () => {
    scrub.close();
    lateIndex.close();
    await group.close();
    connection.close();
    lock.release();
  };
  const memoryMark = () => `${connection.mark()} ${watch.changes()}`;
  const restingMark = () => {
    const mark = connection.restingMark();
    return mark === null ? null : `${mark} ${watch.changes()}`;
  };
  const active = createActiveMemories({ query, memoryMark, restingMark, watch });
  const engine: SqlEngine = {
    name: 'SQLite',
    query,
    read: group.read,
    write: group.write,
    writeAhead: group.writeAhead,
    rowLocks: false,
    leastEpoch: () => 0,
    // One unit writes at a time.
    lockMemories: async () => undefined,
    // The numbering continues after the highest number.
    numberOn: async () => undefined,
    activeMemories: active.read,
    knownMemories: active.known,
    memoryMark,
    index: withLateEntries(textIndex, lateIndex),
    rest: lateIndex.rest,
    scrub: scrub.run,
    noteDeletion: (transaction) => transaction.run(deletion.note).then(() => undefined),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  return { engine, lateIndex };
}
