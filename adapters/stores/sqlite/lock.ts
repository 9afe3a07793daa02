import Database from 'better-sqlite3';
import { makePrivateFile, StrataError } from '../../../src/adapter-kit.ts';
import { isBusy, isDamage } from './failures.ts';

/** Held by this process until it is released or the process ends, in whatever way. */
export interface DirectoryLock {
  /** No other process had the directory open, so claims of others are void. */
  readonly isAlone: boolean;
  /**
   * Waits until no other process has the directory open, for at most three seconds. Processes that start together may
   * have kept each other from being alone.
   */
  becomeAlone(): boolean;
  /** Admits other shared processes, after exclusive work is done. */
  share(): void;
  release(): void;
}

/** For an exclusive process, to prepare what all of them use. */
const PATIENCE_MS = 3000;
/** Of processes that start at the same moment, each may find the other's attempt in its way: one of them must win. */
const ATTEMPT_MS = 250;

/**
 * A transaction on a file of its own, exclusive or reading. The operating system ends it with the process, so a killed
 * process leaves nothing to clean up.
 */
export function lockDirectory({
  directory,
  file,
  shared,
}: {
  readonly directory: string;
  readonly file: string;
  /** Other shared processes may come, and may already be there. */
  readonly shared: boolean;
}): DirectoryLock {
  makePrivateFile(file);
  // A shared process shares at once if it can't be alone.
  const database = new Database(file, { timeout: shared ? 0 : ATTEMPT_MS });
  const locked = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      database.close();
      if (isBusy(error)) throw new StrataError('STORE_LOCKED', { path: directory }, { cause: error });
      if (!isDamage(error)) throw error;
      const remedy = `Delete ${file} if no Strata process uses the directory; it contains no data`;
      throw new StrataError(
        'STORE_UNUSABLE',
        { path: directory, reason: 'its lock is damaged', remedy },
        { cause: error },
      );
    }
  };
  let isAlone = locked(() => begin(database, shared));
  return {
    get isAlone() {
      return isAlone;
    },
    becomeAlone() {
      if (isAlone) return true;
      database.exec('commit');
      isAlone = locked(() => begin(database, shared));
      return isAlone;
    },
    share() {
      if (!shared || !isAlone) return;
      database.exec('commit');
      locked(() => read(database));
    },
    release: () => void database.close(),
  };
}

/** True for an exclusive lock, false for a shared one. A shared process waits only from the second call on. */
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
