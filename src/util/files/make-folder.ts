import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** The mode of a folder that only its owner can read and write. */
export const OWNERS_FOLDER = 0o700;

/**
 * Creates the folder and those above it, level by level. Node's own recursion never ends if the system reports "not
 * found" for a new folder, as in /proc. `mode` applies regardless of the umask.
 */
export function makeFolder(path: string, mode?: number): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, mode);
    if (mode !== undefined) chmodSync(path, mode);
  } catch (error) {
    // Another process may have created it in between.
    if (!existsSync(path)) throw error;
  }
}
