import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import type Database from 'better-sqlite3';
import { describe, StrataError } from '../../../src/adapter-kit.ts';

/** Asks the system to write a file's data to the disk. A parameter, so that tests can let it fail. */
export interface Disk {
  flush(descriptor: number): Promise<void>;
  /** Blocks the thread. */
  flushHere(descriptor: number): void;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

export function systemDisk(): Disk {
  return { flush: promisify(fdatasync), flushHere: fdatasyncSync, now: () => performance.now() };
}

/**
 * SQLite's log. With `synchronous = full`, each commit would block the event loop until the disk has answered. Instead,
 * a commit only writes, and callers that need it to be durable wait for a flush. If the disk fails, all further writes
 * are refused, because it is uncertain what the file contains.
 */
export interface Log {
  /** Throws after a failed flush. */
  check(): void;
  /** Whether a flush failed. */
  hasFailed(): boolean;
  /** Resolves when everything that was committed before is on the disk. Does not block the event loop. */
  flush(): Promise<void>;
  /** The same on this thread: a quick disk answers sooner than another thread can be woken for it and back. */
  flushHere(): void;
  /** Whether the disk usually answers so soon that waiting for it here holds nobody up. False while a flush takes long. */
  isQuick(): boolean;
  close(): void;
}

/** A slower flush is better made on another thread. */
const QUICK_MS = 1;
/** The same of a flush on another thread, which has to be woken and then waits until this one takes the answer. */
const QUICK_ELSEWHERE_MS = 3;
/** A flush on this thread that takes longer holds up other conversations. */
const LONG_MS = 10;
/** The disk is quick if so many of the latest flushes were. */
const LATEST = 32;
const MIN_QUICK = 28;

export function openLog(database: Database.Database, disk: Disk): Log {
  const isLogged = database.pragma('journal_mode', { simple: true }) === 'wal';
  // In other journal modes, only SQLite itself knows what must be on the disk.
  database.pragma(`synchronous = ${isLogged ? 'normal' : 'full'}`);
  // The system reports a failed write once to each descriptor. If both threads used one, a flush that ends first would
  // hide the failure from the other.
  let elsewhere: number | null = null;
  let here: number | null = null;
  let failure: StrataError | null = null;
  const pace = createPace();
  /** When the other thread asked the disk. Infinite once it has the answer. */
  let askedAt = Number.POSITIVE_INFINITY;
  const check = () => {
    if (failure !== null) throw failure;
  };
  const opened = () => {
    try {
      // SQLite creates it before the first commit ends, and keeps it while the database is open.
      elsewhere ??= openSync(`${database.name}-wal`, 'r+');
      here ??= openSync(`${database.name}-wal`, 'r+');
      return { elsewhere, here };
    } catch (error) {
      // Nothing is lost: the next flush covers the same commits.
      throw unconfirmed(database.name, error);
    }
  };
  const failed = (error: unknown) => {
    // A retry would succeed although pages are lost, because the system has reported the failed write already.
    failure ??= unconfirmed(database.name, error);
    // A transaction that is open now can still commit.
    database.pragma('wal_autocheckpoint = 0');
    return failure;
  };
  return {
    check,
    hasFailed: () => failure !== null,
    async flush() {
      check();
      if (!isLogged) return;
      const log = opened();
      askedAt = disk.now();
      await disk.flush(log.elsewhere).catch((error: unknown) => {
        throw failed(error);
      });
      pace.note(disk.now() - askedAt < QUICK_ELSEWHERE_MS);
      askedAt = Number.POSITIVE_INFINITY;
    },
    flushHere() {
      check();
      if (!isLogged) return;
      const log = opened();
      const startedAt = disk.now();
      try {
        disk.flushHere(log.here);
      } catch (error) {
        throw failed(error);
      }
      const tookMs = disk.now() - startedAt;
      if (tookMs < LONG_MS) pace.note(tookMs < QUICK_MS);
      else pace.restart();
    },
    isQuick: () => pace.isQuick() && disk.now() - askedAt < QUICK_ELSEWHERE_MS,
    close() {
      for (const descriptor of [elsewhere, here]) if (descriptor !== null) closeSync(descriptor);
    },
  };
}

/** Whether each of the latest flushes was quick. */
function createPace() {
  let latest: readonly boolean[] = [];
  return {
    note(isQuick: boolean) {
      latest = [...latest.slice(1 - LATEST), isQuick];
    },
    /** As if no flush had been made yet. */
    restart() {
      latest = [];
    },
    isQuick: () => latest.filter(Boolean).length >= MIN_QUICK,
  };
}

function unconfirmed(path: string, error: unknown): StrataError {
  const reason = `the disk did not confirm a write (${describe(error)})`;
  const remedy = 'Check the disk, then start Strata again';
  return new StrataError('STORE_UNUSABLE', { path, reason, remedy, isUncertain: true }, { cause: error });
}
