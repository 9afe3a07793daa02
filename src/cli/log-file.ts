import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_BYTES = 5_000_000;

/** `strata.log` beside the data, made with the first line. One older file is kept. */
export function openLogFile(directory: string): { write(line: string): void } {
  const file = join(directory, 'strata.log');
  turnOver(file);
  return {
    write(line) {
      try {
        appendFileSync(file, line);
      } catch {
        // A log that cannot be written must not stop a conversation.
      }
    },
  };
}

function turnOver(file: string): void {
  try {
    if (statSync(file).size > MAX_BYTES) renameSync(file, `${file}.1`);
  } catch {
    // There is no log yet.
  }
}
