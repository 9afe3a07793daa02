import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import {
  describe,
  makeFolder,
  makePrivateFile,
  OWNERS_FOLDER,
  restrictToOwner,
  STORE_FILE,
  StrataError,
} from '../../../src/adapter-kit.ts';
import { explain } from './failures.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';

/** Identifies the file: "Stra" in ASCII. */
const APPLICATION_ID = 0x53747261;
/** A file up to this size is checked page by page at startup; a larger one only where it is read. */
const CHECKED_BYTES = 16 * 1024 * 1024;
/** Only at startup. Later, waiting for another program's write must not block the event loop: see `group-commit.ts`. */
const OPENING_TIMEOUT_MS = 5_000;

export interface OpenedFile {
  readonly database: Database.Database;
  readonly lock: DirectoryLock;
}

/** Opens or creates the file of a directory. On failure nothing is changed. */
export function openFile({
  directory,
  shared,
  create,
}: {
  readonly directory: string;
  /** Other processes of this machine use the file at the same time. */
  readonly shared: boolean;
  /** Create what is missing. */
  readonly create: boolean;
}): OpenedFile {
  const named = join(directory, STORE_FILE);
  return guarded(directory, () => {
    // Without permission to enter the directory, nobody knows whether there is data.
    const isMissing = statSync(named, { throwIfNoEntry: false }) === undefined;
    if (isMissing && !create) throw new StrataError('STORE_MISSING', { path: directory });
    makeFolder(resolve(directory), OWNERS_FOLDER);
    const path = fileBehind(named);
    // Whoever opens the same file must find the same lock.
    const lock = lockDirectory({ directory, file: join(dirname(path), 'strata.lock'), shared });
    try {
      if (isEmpty(path)) lock.becomeAlone();
      return { database: openDatabase(path), lock };
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

/** SQLite keeps its log beside the file that a link leads to. */
function fileBehind(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? fileBehind(resolve(dirname(path), readlinkSync(path))) : path;
}

function openDatabase(path: string): Database.Database {
  const isNew = isEmpty(path);
  makePrivateFile(path);
  // New files get the mode of the database; an older version may have created these.
  for (const part of ['-wal', '-shm', '-journal']) restrictToOwner(`${path}${part}`);
  const database = new Database(path, { timeout: OPENING_TIMEOUT_MS });
  try {
    if (!isNew) check(database, path);
    // Deleted text is overwritten; this must be set before the first page is written.
    database.pragma('secure_delete = on');
    database.pragma('journal_mode = wal');
    database.pragma('synchronous = full');
    // In pages. Checkpoints are made between turns; this one, inside a commit, is for a store that is never idle.
    database.pragma('wal_autocheckpoint = 4000');
    database.pragma('foreign_keys = on');
    database.pragma('temp_store = memory');
    // In kB. Other pages are in the system's own cache; a larger value made no search faster.
    database.pragma('cache_size = -4000');
    if (isNew) database.pragma(`application_id = ${APPLICATION_ID}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isEmpty(path: string): boolean {
  return !existsSync(path) || statSync(path).size === 0;
}

function check(database: Database.Database, path: string): void {
  if (database.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new StrataError('STORE_UNUSABLE', {
      path,
      reason: 'the file was not created by Strata',
      remedy: 'Set --data to another directory',
    });
  }
  if (statSync(path).size > CHECKED_BYTES) return;
  const finding = String(database.pragma('quick_check(1)', { simple: true }));
  if (finding === 'ok') return;
  throw explain(path, new Database.SqliteError(finding.split('\n').at(-1) ?? '', 'SQLITE_CORRUPT'));
}

/** Every failure with the directory or the file becomes one sentence for the person who started the bot. */
function guarded<Result>(path: string, open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    const explained = explain(path, error);
    if (explained instanceof StrataError) throw explained;
    throw new StrataError('STORE_UNUSABLE', { path, reason: describe(error) }, { cause: error });
  }
}
