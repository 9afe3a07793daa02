import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { coalesce } from './coalesce.ts';

/** A disk that is quicker than this is waited for. A slower one would block the event loop. */
const MAX_BLOCKED_MS = 5;
/** A few slow syncs may be due to other load on the machine. */
const MAX_SLOW = 3;
/** After these, the disk is tried again. */
const SYNCS_ASIDE = 100;

/** Commits only write to the log. This waits until the disk has it. */
export interface LogSync {
  /**
   * Resolves when everything that was committed before is on the disk. `inBackground` if the process has other work
   * until then; waiting in the background takes longer than a quick disk.
   */
  sync(options: { readonly inBackground: boolean }): Promise<void>;
  /**
   * After a failed sync, nobody knows what the disk has of the log: the whole log is first copied into the file. Throws
   * the failure while that is impossible. Outside a transaction only.
   */
  recover(): void;
  close(): void;
}

export interface LogSyncOptions {
  /** Copies the whole log into the file; false while another process prevents it. */
  readonly writeBack: () => boolean;
  /** Default: the system's. */
  readonly disk?: Disk;
}

export interface Disk {
  sync(file: number): void;
  syncLater(file: number): Promise<void>;
}

export function createLogSync(
  database: Database.Database,
  { writeBack, disk = createDisk() }: LogSyncOptions,
): LogSync {
  const isLogged = database.pragma('journal_mode', { simple: true }) === 'wal';
  if (!isLogged) return { sync: async () => undefined, recover: () => undefined, close: () => undefined };
  database.pragma('synchronous = normal');
  // Its name as SQLite knows it: absolute, and without links.
  const path = database.prepare<[], string>("select file from pragma_database_list where name = 'main'").pluck().get();
  let file: number | null = null;
  // SQLite keeps the log until the last connection closes.
  const opened = () => {
    file ??= openSync(`${path}-wal`, 'r+');
    return file;
  };
  let [slow, aside] = [0, 0];
  const later = coalesce(() => disk.syncLater(opened()));
  let failure: { readonly error: unknown } | null = null;
  return {
    async sync({ inBackground }) {
      const startedAt = performance.now();
      const blocks = !inBackground && aside === 0;
      if (!blocks && aside > 0) aside -= 1;
      try {
        if (blocks) disk.sync(opened());
        else await later();
      } catch (error) {
        failure ??= { error };
      }
      // In the background, other work of the process would be counted too.
      if (blocks) slow = performance.now() - startedAt <= MAX_BLOCKED_MS ? 0 : Math.min(slow + 1, MAX_SLOW);
      if (blocks && slow === MAX_SLOW) aside = SYNCS_ASIDE;
      // The system reports a failure once; a later sync says nothing about what was lost.
      if (failure !== null) throw failure.error;
    },
    recover() {
      if (failure === null) return;
      if (!writeBack()) throw failure.error;
      failure = null;
    },
    close() {
      if (file !== null) closeSync(file);
    },
  };
}

function createDisk(): Disk {
  return {
    sync: fdatasyncSync,
    syncLater: (file) =>
      new Promise((resolve, reject) => {
        fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
      }),
  };
}
