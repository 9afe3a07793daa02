import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from './coalesce.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';

export interface ScrubOptions {
  readonly group: Pick<GroupCommit, 'alone' | 'write'>;
  readonly connection: Pick<Connection, 'writeBack' | 'wipe'>;
  /** Other processes have the file's pages in their memory: only the log is emptied. */
  readonly shared: boolean;
  /** Nothing is left: what `noteDeletion` wrote is taken back. */
  readonly settle: () => Promise<void>;
  /** How long a caller waits for a program that reads the file. Default: a second. */
  readonly patienceMs?: number;
}

export interface Scrub {
  /** Null when no deleted text is left in the files; else a sentence that says what still holds it. */
  run(): Promise<string | null>;
  close(): void;
}

const PATIENCE_MS = 1000;
const PAUSE_MS = 25;
const RETRY_MS = 2000;
const BLOCKED =
  'The deleted text is still in the write-ahead log because another program has the database open. Strata removes it when that program closes the database.';

/** Removes deleted text from the files. While another program stops that, it is tried again and again, off the loop. */
export function createScrub(options: ScrubOptions): Scrub {
  const { patienceMs = PATIENCE_MS } = options;
  let retry: NodeJS.Timeout | null = null;
  let isClosed = false;
  const attempt = coalesce(() => scrubOnce(options));
  const tryAgainLater = () => {
    if (isClosed || retry !== null) return;
    retry = setTimeout(() => {
      retry = null;
      attempt().then((isClean) => isClean || tryAgainLater(), tryAgainLater);
    }, RETRY_MS).unref();
  };
  return {
    async run() {
      const deadline = performance.now() + patienceMs;
      while (!isClosed) {
        if (await attempt()) return null;
        if (performance.now() > deadline) break;
        await sleep(PAUSE_MS);
      }
      tryAgainLater();
      return BLOCKED;
    },
    close() {
      isClosed = true;
      if (retry !== null) clearTimeout(retry);
    },
  };
}

/** False when another program reads or writes the file. */
async function scrubOnce({ group, connection, shared, settle }: ScrubOptions): Promise<boolean> {
  // The file's pages may only be touched while no other process has them in its memory.
  const step = (offset: number) => group.alone(() => (shared ? connection.writeBack() : connection.wipe(offset)));
  for (let offset: number | null = 0; offset !== null; ) {
    const next = await step(offset);
    if (next === false) return false;
    offset = next === true ? null : next;
  }
  await settle();
  return true;
}
