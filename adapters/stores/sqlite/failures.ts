import { describe, errorCode, StrataError } from '../../../src/adapter-kit.ts';

/** Classifies failures of the file, its folder and its disk. Pure. */

interface Cause {
  /** Of SQLite or the system. */
  readonly code: RegExp;
  /** Of the system call that failed. Default: any. */
  readonly syscall?: string;
  readonly reason: string;
  readonly remedy: string;
}

const ANOTHER_FOLDER = 'set --data to another directory';

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/;

/** Another file, or none, is at its place. */
export function fileMoved(): Error {
  return Object.assign(new Error('another file or none is at its place'), { code: 'MOVED' });
}

/** What is written now would be gone when the process ends. */
export function logDeleted(): Error {
  return Object.assign(new Error('the file that ends in -wal is not there'), { code: 'LOG_DELETED' });
}

const CAUSES: readonly Cause[] = [
  {
    code: DAMAGE,
    reason: 'the file is damaged',
    remedy: 'Restore a backup into another directory: strata restore FILE --data DIR',
  },
  {
    code: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    reason: 'the disk is full',
    remedy: `Free some space, or ${ANOTHER_FOLDER}`,
  },
  {
    code: /^(EACCES|EPERM)/,
    syscall: 'stat',
    reason: 'the user of this process is not allowed to enter it',
    remedy: `Give that user access to the directory and to all directories above it, or ${ANOTHER_FOLDER}`,
  },
  {
    code: /^(SQLITE_CANTOPEN|EMFILE|ENFILE)/,
    reason: 'its files cannot be opened for writing',
    remedy: `Check their permissions, the file system and the limit of open files, or ${ANOTHER_FOLDER}`,
  },
  {
    code: /^(SQLITE_(READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/,
    reason: 'it is not writable',
    remedy: `Let the user of this process write there, or ${ANOTHER_FOLDER}`,
  },
  { code: /^(ENOTDIR|EEXIST|ELOOP)/, reason: 'its path leads to no directory', remedy: 'Set --data to a directory' },
  { code: /^ENAMETOOLONG/, reason: 'its path is too long', remedy: 'Set --data to a shorter path' },
  {
    code: /^MOVED$/,
    reason: 'it was moved, deleted or unmounted while in use',
    remedy: 'Put it back, or restart Strata',
  },
  {
    code: /^LOG_DELETED$/,
    reason: 'its write-ahead log was deleted while in use',
    remedy: 'Restart Strata',
  },
  // SQLite reports a quota and a limit on the size of files in the same way as a failing disk.
  {
    code: /^(SQLITE_IOERR_(WRITE|TRUNCATE|SHMSIZE)|EFBIG)/,
    reason: 'writing to it failed',
    remedy: `Check the disk, and the quota and the limit on the size of files of the user of this process, or ${ANOTHER_FOLDER}`,
  },
  { code: /^(SQLITE_IOERR|EIO)/, reason: 'the disk failed', remedy: 'Check the disk and its connection' },
  { code: /^SQLITE_NOMEM/, reason: 'the process is out of memory', remedy: 'Give it more memory' },
  {
    code: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    reason: 'another program has locked it',
    remedy: 'Close the program that has the file open, and start again',
  },
];

/** One sentence for failures that a person can fix; any other error is unexpected and returned unchanged. */
export function explain(path: string, error: unknown): unknown {
  const known = CAUSES.find(
    ({ code, syscall }) => code.test(errorCode(error)) && (syscall === undefined || syscall === syscallOf(error)),
  );
  if (known === undefined) return error;
  const { remedy } = known;
  const reason = `${known.reason} (${describe(error)})`;
  const data = { path, reason, remedy, ...(isDamage(error) && { isDamaged: true }) };
  return new StrataError('STORE_UNUSABLE', data, { cause: error });
}

export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|PROTOCOL)/.test(errorCode(error));
}

export function isDamage(error: unknown): boolean {
  return DAMAGE.test(errorCode(error));
}

function syscallOf(error: unknown): unknown {
  return error instanceof Error && 'syscall' in error ? error.syscall : undefined;
}
