import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFile, OWNER_ONLY, restrictToOwner } from '../util/files/private-file.ts';

const MAX_BYTES = 5_000_000;
/** The size is looked at each time that so much was written: a process may run for months. */
const MEASURED_BYTES = 100_000;

/**
 * `strata.log` in the data folder, created with the first line and readable by its owner only. When it is full, it becomes
 * `strata.log.1`, and an older one of that name goes.
 */
export function openLogFile(directory: string): { write(line: string): void } {
  const file = join(directory, 'strata.log');
  turnOver(file);
  restrictToOwner(`${file}.1`);
  let isPrivate = false;
  let unmeasuredBytes = 0;
  return {
    write(line) {
      try {
        if (!isPrivate) makePrivateFile(file);
        isPrivate = true;
        // A program that rotates logs may have moved the file away: then this line creates the next one.
        appendFileSync(file, line, { mode: OWNER_ONLY });
        unmeasuredBytes += Buffer.byteLength(line);
        if (unmeasuredBytes < MEASURED_BYTES) return;
        unmeasuredBytes = 0;
        if (turnOver(file)) isPrivate = false;
      } catch {
        // A log that cannot be written must not interrupt a conversation.
        isPrivate = false;
      }
    },
  };
}

/** Returns whether it did. */
function turnOver(file: string): boolean {
  try {
    if (statSync(file).size <= MAX_BYTES) return false;
    renameSync(file, `${file}.1`);
    return true;
  } catch {
    // The log does not exist yet.
    return false;
  }
}
