import { closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, StrataError } from '../../../src/adapter-kit.ts';
import type { Statement } from '../sql/index.ts';
import { wipeUnused } from './wipe.ts';

/** Statements that are kept prepared: all of the store's own, and some of those that are built for one call. */
const KEPT_STATEMENTS = 400;

/** The one connection to the database file. Everything here is synchronous. */
export interface Connection {
  rows<Row>(statement: Statement<Row>): readonly Row[];
  run(statement: Statement): number;
  /** The numbers of one column: rows as objects cost more than the search itself. */
  column(sql: string, parameters: readonly unknown[]): readonly number[];
  table(sql: string, parameters: readonly unknown[]): readonly (readonly number[])[];
  begin(kind: 'read' | 'write'): void;
  /** An equal mark later means that no other connection committed anything, and that nothing was rolled back here. */
  mark(): string;
  commit(): void;
  rollback(): void;
  /** Brings the log into the file, as far as nobody reads it. */
  checkpoint(): void;
  /** Brings the whole log into the file and empties it. False while another process reads it. */
  writeBack(): boolean;
  /**
   * One step of blanking what deleted text has left in the file: where the next one begins, null at the end, false while
   * another process reads the log.
   */
  wipe(offset: number): number | null | false;
  /** Another process writes; it will be done. */
  isBusy(error: unknown): boolean;
  explain(error: unknown): unknown;
  closedError(): Error;
  close(): void;
}

export function createConnection(database: Database.Database): Connection {
  // A wait inside of SQLite would stop the loop: `group-commit.ts` waits instead.
  database.pragma('busy_timeout = 0');
  const prepare = keep((sql) => database.prepare<unknown[], unknown>(sql));
  const prepareColumn = keep((sql) => database.prepare<unknown[], number>(sql).pluck());
  const prepareTable = keep((sql) => database.prepare<unknown[], readonly number[]>(sql).raw());
  const path = database.name;
  let descriptor: number | null = null;
  const begin = { read: database.prepare('begin'), write: database.prepare('begin immediate') };
  const commit = database.prepare('commit');
  // Counts what others commit.
  const others = database.prepare<[], number>('pragma data_version').pluck();
  let undone = 0;
  const checkpoint = database.prepare('pragma wal_checkpoint(PASSIVE)');
  const truncate = database.prepare<[], number>('pragma wal_checkpoint(TRUNCATE)').pluck();
  // Its first column says whether another process stood in the way.
  const writeBack = () => truncate.get() === 0;
  return {
    // The row's type is Kysely's, made from the tables and the query.
    rows: <Row>({ sql, parameters }: Statement<Row>) => prepare(sql).all(...parameters) as readonly Row[],
    run: ({ sql, parameters }) => prepare(sql).run(...parameters).changes,
    column: (sql, parameters) => prepareColumn(sql).all(...parameters),
    table: (sql, parameters) => prepareTable(sql).all(...parameters),
    begin: (kind) => begin[kind].run(),
    commit: () => commit.run(),
    mark: () => `${others.get()} ${undone}`,
    rollback() {
      undone += 1;
      if (database.inTransaction) database.exec('rollback');
    },
    checkpoint: () => void checkpoint.get(),
    writeBack,
    wipe(offset) {
      // The log and the cache hold the pages as they were before.
      if (!writeBack()) return false;
      database.pragma('shrink_memory');
      descriptor ??= openSync(path, 'r+');
      return wipeUnused(descriptor, offset);
    },
    isBusy: (error) => error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'),
    explain: (error) => explain(path, error),
    closedError: () => new StrataError('STORE_UNUSABLE', { path, reason: 'it was closed' }),
    close() {
      database.close();
      // Not earlier: closing any descriptor of a file gives up all locks that this process has on it.
      if (descriptor !== null) closeSync(descriptor);
    },
  };
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

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_(CORRUPT|NOTADB)/, 'the file is damaged'],
  [/^SQLITE_FULL/, 'the disk is full'],
  [/^SQLITE_(READONLY|PERM|CANTOPEN|AUTH)/, 'it is not writable'],
  [/^SQLITE_IOERR/, 'the disk failed'],
  [/^SQLITE_BUSY/, 'another program has locked it'],
];

/** The one sentence for what a person can mend; anything else is our own fault and stays as it is. */
export function explain(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const known = REASONS.find(([code]) => code.test(error.code));
  if (known === undefined) return error;
  const reason = `${known[1]} (${describe(error)})`;
  return new StrataError('STORE_UNUSABLE', { path, reason }, { cause: error });
}
