import { closeSync, openSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StrataError } from '../../../src/adapter-kit.ts';
import type { Statement } from '../sql/index.ts';
import { explain, fileMoved, isBusy, logDeleted } from './failures.ts';
import { type Disk, type Log, openLog, systemDisk } from './log.ts';
import { wipeUnused } from './wipe.ts';

/** Number of statements kept prepared: all of the store's own, and some that are built for one call. */
const KEPT_STATEMENTS = 400;

/** The one connection to the database file. Everything here but `log.flush` is synchronous. */
export interface Connection {
  rows<Row>(statement: Statement<Row>): readonly Row[];
  run(statement: Statement): number;
  /** The numbers of one column; rows as objects cost more than the search itself. */
  column(sql: string, parameters: readonly unknown[]): readonly number[];
  table(sql: string, parameters: readonly unknown[]): readonly (readonly number[])[];
  begin(kind: 'read' | 'write'): void;
  /** If the mark is equal later, no other connection has committed anything, and nothing was rolled back here. */
  mark(): string;
  /** The mark of what is committed. Null within a transaction, or if the file cannot be read now. */
  restingMark(): string | null;
  /** Other processes see it at once. A power failure may undo it until a flush of the log has ended. */
  commit(): void;
  readonly log: Pick<Log, 'flush' | 'flushHere' | 'isQuick'>;
  rollback(): void;
  /**
   * Copies the log into the file, as far as readers allow. Throws after a failed flush: a file that is newer than its
   * log on the disk would be damaged.
   */
  checkpoint(): void;
  /** Copies the whole log into the file and empties it. False while another process reads it. */
  writeBack(): boolean;
  /**
   * One step of overwriting the remains of deleted text in the file. Returns the start of the next step, null at the
   * end, or false while another process reads the log.
   */
  wipe(offset: number): number | null | false;
  /** Another process is writing and will finish. */
  isBusy(error: unknown): boolean;
  explain(error: unknown): unknown;
  closedError(): Error;
  /** After a failed flush, leaves the log as it is. */
  close(): void;
}

export function createConnection(database: Database.Database, disk: Disk = systemDisk()): Connection {
  // Waiting inside SQLite would block the event loop; `group-commit.ts` waits instead.
  database.pragma('busy_timeout = 0');
  const prepare = keep((sql) => database.prepare<unknown[], unknown>(sql));
  const prepareColumn = keep((sql) => database.prepare<unknown[], number>(sql).pluck());
  const prepareTable = keep((sql) => database.prepare<unknown[], readonly number[]>(sql).raw());
  const path = database.name;
  let descriptor: number | null = null;
  const log = openLog(database, disk);
  const transactions = createTransactions(database);
  const checkpoint = database.prepare('pragma wal_checkpoint(PASSIVE)');
  const checkPlace = watchPlace(path, () => checkpoint.get());
  const truncate = database.prepare<[], number>('pragma wal_checkpoint(TRUNCATE)').pluck();
  // Its first column says whether another process blocked it.
  const writeBack = () => {
    log.check();
    return truncate.get() === 0;
  };
  return {
    // The row's type comes from Kysely, derived from the tables and the query.
    rows: <Row>({ sql, parameters }: Statement<Row>) => prepare(sql).all(...parameters) as readonly Row[],
    run: ({ sql, parameters }) => prepare(sql).run(...parameters).changes,
    column: (sql, parameters) => prepareColumn(sql).all(...parameters),
    table: (sql, parameters) => prepareTable(sql).all(...parameters),
    begin(kind) {
      if (kind === 'write') {
        log.check();
        checkPlace();
      }
      transactions.begin(kind);
    },
    commit: transactions.commit,
    log,
    mark: transactions.mark,
    restingMark: transactions.restingMark,
    rollback: transactions.rollback,
    checkpoint() {
      log.check();
      checkpoint.get();
    },
    writeBack,
    wipe(offset) {
      // The log and the cache contain the old pages.
      if (!writeBack()) return false;
      database.pragma('shrink_memory');
      descriptor ??= openSync(path, 'r+');
      return wipeUnused(descriptor, offset);
    },
    isBusy,
    explain: (error) => explain(path, error),
    closedError: () => new StrataError('STORE_UNUSABLE', { path, reason: 'it was closed' }),
    close() {
      closeDatabase(database, log);
      // Not earlier: closing any descriptor of a file releases all locks of this process on it.
      if (descriptor !== null) closeSync(descriptor);
    },
  };
}

/** The transactions of the connection, and marks of what they and others committed. */
function createTransactions(database: Database.Database) {
  const begin = { read: database.prepare('begin'), write: database.prepare('begin immediate') };
  const commit = database.prepare('commit');
  // Changes when others commit.
  const others = database.prepare<[], number>('pragma data_version').pluck();
  let undone = 0;
  /** Stays true until `rollback`, although SQLite itself ends a transaction after some errors. */
  let isBegun = false;
  const mark = () => `${others.get()} ${undone}`;
  return {
    begin(kind: 'read' | 'write') {
      begin[kind].run();
      isBegun = true;
    },
    commit() {
      commit.run();
      isBegun = false;
    },
    rollback() {
      // Where beginning failed, as it does while another process writes, nothing is undone.
      if (isBegun) undone += 1;
      isBegun = false;
      if (database.inTransaction) database.exec('rollback');
    },
    mark,
    restingMark() {
      try {
        return isBegun || database.inTransaction ? null : mark();
      } catch {
        // The query that follows reports why.
        return null;
      }
    },
  };
}

function closeDatabase(database: Database.Database, log: Log): void {
  const reader = log.hasFailed() ? openReader(database.name) : null;
  database.close();
  reader?.close();
  log.close();
}

/**
 * The last connection to close copies the log into the file, which after a failed flush would be newer than the log on
 * the disk. One that can only read does not. Null if none can be opened.
 */
function openReader(path: string): Database.Database | null {
  try {
    const reader = new Database(path, { readonly: true });
    // A connection counts once it has read something.
    reader.pragma('user_version');
    return reader;
  } catch {
    return null;
  }
}

/** Between two looks at the place of the file. */
const PLACE_MS = 100;

/**
 * A file that was deleted or whose disk was unmounted can still be written, but nobody would ever read it again. Throws
 * then, until the same file is back. `save` writes what only a deleted log contains into the file.
 */
function watchPlace(path: string, save: () => void): () => void {
  const file = placeOf(path);
  let log: string | null = null;
  let checkedAt = 0;
  return () => {
    if (performance.now() - checkedAt < PLACE_MS) return;
    if (placeOf(path) !== file) throw fileMoved();
    // SQLite creates it with the first write and keeps it until the last process closes the file.
    const found = placeOf(`${path}-wal`);
    if (log !== null && found !== log) {
      save();
      throw logDeleted();
    }
    log = found;
    checkedAt = performance.now();
  };
}

function placeOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

function keep<Prepared>(prepare: (sql: string) => Prepared): (sql: string) => Prepared {
  const kept = new Map<string, Prepared>();
  return (sql) => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    if (kept.size >= KEPT_STATEMENTS) kept.clear();
    const prepared = prepare(sql);
    kept.set(sql, prepared);
    return prepared;
  };
}
