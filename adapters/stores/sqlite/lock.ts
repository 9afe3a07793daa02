import Database from 'better-sqlite3';
import { makePrivateFile, StrataError } from '../../../src/adapter-kit.ts';

/** Held by this process until it is released or the process dies, however it dies. */
export interface DirectoryLock {
  /** No other process had the directory open: what others have claimed in it is nobody's. */
  readonly isAlone: boolean;
  /** Lets others in that share. What must happen alone has happened. */
  share(): void;
  release(): void;
}

/** For the one that is alone to make ready what all of them use. */
const PATIENCE_MS = 3000;

/**
 * A transaction on a file of its own, exclusive or reading: the operating system ends it with the process, so a killed
 * one leaves nothing behind that would have to be cleared away.
 */
export function lockDirectory({
  directory,
  file,
  shared,
}: {
  readonly directory: string;
  readonly file: string;
  /** Others that share may come, and may be there already. */
  readonly shared: boolean;
}): DirectoryLock {
  makePrivateFile(file);
  const database = new Database(file, { timeout: 0 });
  const locked = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      database.close();
      throw isBusy(error) ? new StrataError('STORE_LOCKED', { path: directory }, { cause: error }) : error;
    }
  };
  const isAlone = locked(() => begin(database, shared));
  return {
    isAlone,
    share() {
      if (!shared || !isAlone) return;
      database.exec('commit');
      locked(() => read(database));
    },
    release: () => void database.close(),
  };
}

/** True for an exclusive lock, false for a shared one beside others. */
function begin(database: Database.Database, shared: boolean): boolean {
  try {
    database.pragma('journal_mode = memory');
    database.exec('begin exclusive');
    return true;
  } catch (error) {
    if (!shared || !isBusy(error)) throw error;
    read(database);
    return false;
  }
}

/** A transaction that has read holds its lock until it ends. */
function read(database: Database.Database): void {
  database.pragma(`busy_timeout = ${PATIENCE_MS}`);
  database.exec('begin');
  database.prepare('select count(*) from sqlite_schema').get();
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
