import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { errorCode } from '../errors/error-code.ts';

/** The mode of a file that only its owner can read and write. */
export const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
/** On file systems without modes, and for files of another user, the operator has decided who may read them. */
const UNCHANGEABLE = new Set(['EPERM', 'ENOTSUP', 'EROFS']);

/**
 * Creates the file if it is missing, readable and writable only by its owner, regardless of the umask. No effect on Windows.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  restrictToOwner(path);
}

/**
 * Removes the permissions of everyone but the owner from an existing file. Uses its path, because closing a descriptor
 * of an open database would release the locks of this process.
 */
export function restrictToOwner(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || ((mode & OTHERS) === 0 && (mode & OWNER_ONLY) === OWNER_ONLY)) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    if (!UNCHANGEABLE.has(errorCode(error))) throw error;
  }
}
