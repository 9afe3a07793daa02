import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
/** File systems without modes, and files of another user: the operator has decided who may read those. */
const UNCHANGEABLE = new Set(['EPERM', 'ENOTSUP', 'EROFS']);

/** Makes the file if it is missing, readable and writable by its owner only. Whatever the umask; without effect on Windows. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  restrictToOwner(path);
}

/**
 * Takes the rights of everybody but the owner from a file, if there is one. By its path: closing a descriptor of an open
 * database would end the locks that this process has on it.
 */
export function restrictToOwner(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || ((mode & OTHERS) === 0 && (mode & OWNER_ONLY) === OWNER_ONLY)) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    if (!UNCHANGEABLE.has(codeOf(error))) throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
