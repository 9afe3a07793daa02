import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFile, OWNER_ONLY, restrictToOwner } from '../util/files/private-file.ts';

const MAX_BYTES = 5_000_000;

/** `strata.log` in the data folder, created with the first line and readable by its owner only. One older file is kept. */
export function openLogFile(directory: string): { write(line: string): void } {
  const file = join(directory, 'strata.log');
  turnOver(file);
  restrictToOwner(`${file}.1`);
  let isPrivate = false;
  return {
    write(line) {
      try {
        if (!isPrivate) makePrivateFile(file);
        isPrivate = true;
        // A program that rotates logs may have moved the file away: then this line creates the next one.
        appendFileSync(file, line, { mode: OWNER_ONLY });
      } catch {
        // A log that cannot be written must not interrupt a conversation.
        isPrivate = false;
      }
    },
  };
}

function turnOver(file: string): void {
  try {
    if (statSync(file).size > MAX_BYTES) renameSync(file, `${file}.1`);
  } catch {
    // The log does not exist yet.
  }
}
