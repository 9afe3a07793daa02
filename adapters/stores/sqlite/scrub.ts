import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';

export interface ScrubOptions {
  readonly group: Pick<GroupCommit, 'alone' | 'write'>;
  readonly connection: Pick<Connection, 'writeBack' | 'wipe'>;
  /** Other processes have the file's pages in memory, so only the log is emptied. */
  readonly shared: boolean;
  /** The record of `noteDeletion`, if there is one. */
  readonly owed: () => Promise<string | undefined>;
  /** Resolves when the index has lost what was deleted before. */
  readonly cleared: () => Promise<void>;
  /** Nothing is left, so the record is removed, unless more was deleted since. */
  readonly settle: (owed: string) => Promise<void>;
  /** How long a caller waits for a program that reads the file. Default: a second. */
  readonly patienceMs?: number;
}

export interface Scrub {
  /** Null if the files contain no deleted text any more; otherwise a sentence about what still contains it. */
  run(): Promise<string | null>;
  close(): void;
}

const PATIENCE_MS = 1000;
const PAUSE_MS = 25;
const RETRY_MS = 2000;
const LOOK_MS = 10_000;
const BLOCKED =
  'The deleted text is still in the write-ahead log because another program has the database open. Strata removes it when that program closes the database.';

/**
 * Removes deleted text from the files. While another program prevents this, it is retried in the background. A process
 * that shares the file also empties the log of what others deleted, because those may have ended before they could.
 */
export function createScrub(options: ScrubOptions): Scrub {
  const { patienceMs = PATIENCE_MS, shared, owed } = options;
  let retry: NodeJS.Timeout | null = null;
  let isClosed = false;
  /** The record as of the last success here. */
  let removed: string | undefined;
  const attempt = coalesce(async () => {
    const noted = await owed();
    const isClean = await scrubOnce(options, noted);
    if (isClean) removed = noted;
    return isClean;
  });
  const tryAgainLater = () => {
    if (isClosed || retry !== null) return;
    retry = setTimeout(() => {
      retry = null;
      attempt().then((isClean) => isClean || tryAgainLater(), tryAgainLater);
    }, RETRY_MS).unref();
  };
  const look = async () => {
    if ((await owed()) === removed) return;
    if (!(await attempt())) tryAgainLater();
  };
  // If the store cannot be read, the next look finds the same.
  const looking = shared ? setInterval(() => void look().catch(() => undefined), LOOK_MS).unref() : null;
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
      if (looking !== null) clearInterval(looking);
    },
  };
}

/** False if another program reads or writes the file. */
async function scrubOnce(
  { group, connection, shared, cleared, settle }: ScrubOptions,
  noted: string | undefined,
): Promise<boolean> {
  await cleared();
  // The file's pages may be changed only while no other process has them in memory.
  const step = (offset: number) => group.alone(() => (shared ? connection.writeBack() : connection.wipe(offset)));
  for (let offset: number | null = 0; offset !== null; ) {
    const next = await step(offset);
    if (next === false) return false;
    offset = next === true ? null : next;
  }
  // Pages keep copies of moved rows. The next process that is alone wipes those.
  if (!shared && noted !== undefined) await settle(noted);
  return true;
}
