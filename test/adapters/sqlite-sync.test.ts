import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConnection } from '../../adapters/stores/sqlite/connection.ts';
import { createGroupCommit, type GroupCommit } from '../../adapters/stores/sqlite/group-commit.ts';
import type { Disk } from '../../adapters/stores/sqlite/log-sync.ts';
import { isStrataError } from '../../src/adapter-kit.ts';

/** A disk that is written when the test says so. */
interface TestDisk extends Disk {
  readonly log: string[];
  /** Of syncs in the background, oldest first. */
  readonly waiting: (() => void)[];
  /** Thrown by every sync. */
  failure: Error | null;
  /** Of syncs that block. */
  takesMs: number;
}

function testDisk(): TestDisk {
  const disk: TestDisk = {
    log: [],
    waiting: [],
    failure: null,
    takesMs: 0,
    sync() {
      disk.log.push('blocking');
      if (disk.failure !== null) throw disk.failure;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, disk.takesMs);
    },
    syncLater() {
      disk.log.push('in background');
      return new Promise((resolve, reject) => {
        disk.waiting.push(() => (disk.failure === null ? resolve() : reject(disk.failure)));
      });
    },
  };
  return disk;
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const broken = () => Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });

describe('the log of the SQLite file', () => {
  let directory: string;
  let database: Database.Database;
  let disk: TestDisk;
  let group: GroupCommit;
  let query: Kysely<{ kept: { n: number } }>;
  const insert = (n: number, onCommitted?: (n: number) => void) =>
    group.write(async (transaction) => {
      await transaction.run(query.insertInto('kept').values({ n }).compile());
      return n;
    }, onCommitted);
  const rows = () => database.prepare<[], number>('select n from kept').pluck().all();
  const logBytes = async () => (await stat(join(directory, 'own.db-wal'))).size;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strata-sync-'));
    database = new Database(join(directory, 'own.db'));
    database.pragma('journal_mode = wal');
    database.exec('create table kept (n integer)');
    query = new Kysely({ dialect: new SqliteDialect({ database }) });
    disk = testDisk();
    group = createGroupCommit(createConnection(database, disk));
  });
  afterEach(async () => {
    database.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('is on the disk before a write is confirmed', async () => {
    await insert(1);
    expect(disk.log).toEqual(['blocking']);
  });

  it('is found beside a file that a link names', async () => {
    const link = join(directory, 'elsewhere', 'link.db');
    await mkdir(dirname(link));
    await symlink(join(directory, 'own.db'), link);
    const linked = new Database(link);
    const writer = createGroupCommit(createConnection(linked));
    await writer.write((transaction) => transaction.run(query.insertInto('kept').values({ n: 1 }).compile()));
    linked.close();
    expect(rows()).toEqual([1]);
  });

  it('is written while work with the result begins', async () => {
    const seen: unknown[] = [];
    const written = insert(1, (n) => seen.push(n, rows())).then(() => seen.push('confirmed'));
    while (disk.waiting.length === 0) await tick();
    await tick();
    expect(seen).toEqual([1, [1]]);
    disk.waiting.shift()?.();
    await written;
    expect(seen).toEqual([1, [1], 'confirmed']);
  });

  it('is on the disk although work with a result failed', async () => {
    const failing = insert(1, () => {
      throw new Error('no turn begins');
    });
    const others = [insert(2), insert(3, () => undefined)];
    const failed = expect(failing).rejects.toThrow('no turn begins');
    while (disk.waiting.length === 0) await tick();
    disk.waiting.shift()?.();
    await failed;
    expect(await Promise.all(others)).toEqual([2, 3]);
    expect(disk.log).toEqual(['in background']);
  });

  it('is not waited for by reads and repeatable work', async () => {
    await group.read(async () => undefined);
    await group.writeLazily(async () => undefined);
    expect(disk.log).toEqual([]);
    await Promise.all([group.writeLazily(async () => undefined), insert(1)]);
    expect(disk.log).toEqual(['blocking']);
  });

  it('confirms what is written during a sync with the next', async () => {
    const done: number[] = [];
    const first = insert(1, () => undefined).then((n) => done.push(n));
    while (disk.waiting.length === 0) await tick();
    const second = insert(2, () => undefined).then((n) => done.push(n));
    while (rows().length < 2) await tick();
    disk.waiting.shift()?.();
    await first;
    while (disk.waiting.length === 0) await tick();
    expect(done).toEqual([1]);
    disk.waiting.shift()?.();
    await second;
    expect(disk.log).toEqual(['in background', 'in background']);
  });

  it('blocks the event loop only with a quick disk', async () => {
    disk.takesMs = 10;
    for (const n of [1, 2, 3]) await insert(n);
    const slow = insert(4);
    while (disk.waiting.length === 0) await tick();
    disk.waiting.shift()?.();
    await slow;
    expect(disk.log).toEqual(['blocking', 'blocking', 'blocking', 'in background']);
  });

  it('confirms nothing after a failure until it is copied', async () => {
    disk.failure = broken();
    await expect(insert(1)).rejects.toSatisfy((error) => isStrataError(error, 'STORE_UNUSABLE'));
    disk.failure = null;
    const other = new Database(join(directory, 'own.db'));
    other.exec('begin');
    other.prepare('select n from kept').get();
    await expect(insert(2)).rejects.toThrow('the disk failed');
    other.close();
    expect(await insert(3)).toBe(3);
    expect(rows()).toEqual([1, 3]);
  });

  it('is emptied by the write after a failure', async () => {
    for (let n = 0; n < 9; n += 1) await insert(n);
    const before = await logBytes();
    disk.failure = broken();
    await expect(insert(9)).rejects.toThrow('the disk failed');
    disk.failure = null;
    await insert(10);
    expect(await logBytes()).toBeLessThan(before);
  });

  it('is on the disk before the store is closed', async () => {
    const written = insert(1, () => undefined);
    while (disk.waiting.length === 0) await tick();
    let isClosed = false;
    const closed = group.close().then(() => {
      isClosed = true;
    });
    await tick();
    await tick();
    expect(isClosed).toBe(false);
    disk.waiting.shift()?.();
    await written;
    while (disk.waiting.length === 0) await tick();
    disk.waiting.shift()?.();
    await closed;
  });
});
