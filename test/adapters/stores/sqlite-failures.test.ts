import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { explain } from '../../../adapters/stores/sqlite/failures.ts';
import { isStoreAway } from '../../../src/adapter-kit.ts';

const explained = (code: string) => explain('/data', new Database.SqliteError('on purpose', code));

describe('a failure of SQLite', () => {
  it.each([
    ['SQLITE_BUSY', 'another program has locked it'],
    ['SQLITE_BUSY_RECOVERY', 'another program has locked it'],
    ['SQLITE_BUSY_SNAPSHOT', 'another program has locked it'],
    ['SQLITE_LOCKED', 'another program has locked it'],
    ['SQLITE_PROTOCOL', 'another program has locked it'],
    ['SQLITE_NOMEM', 'the process is out of memory'],
    ['SQLITE_FULL', 'the disk is full'],
    ['SQLITE_IOERR_READ', 'the disk failed'],
    ['SQLITE_IOERR_WRITE', 'quota'],
    ['EFBIG', 'limit on the size of files'],
    ['SQLITE_CANTOPEN', 'cannot be opened'],
    ['SQLITE_READONLY', 'it is not writable'],
  ])('%s may pass, and says why', (code, reason) => {
    const error = explained(code);
    expect(isStoreAway(error)).toBe(true);
    expect(String(error)).toContain(reason);
  });

  it.each(['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_CONSTRAINT', 'SQLITE_TOOBIG'])('%s does not pass', (code) => {
    expect(isStoreAway(explained(code))).toBe(false);
  });
});
