import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Unit } from '../../../adapters/stores/sql/index.ts';
import { coalesce } from '../../../adapters/stores/sql/query/coalesce.ts';
import { createConnection } from '../../../adapters/stores/sqlite/connection.ts';
import { createGroupCommit } from '../../../adapters/stores/sqlite/group-commit.ts';
import { type Disk, systemDisk } from '../../../adapters/stores/sqlite/log.ts';
import { SIZED, sized } from '../../support/size.ts';

const FILES = ['own.db', 'own.db-wal'] as const;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'strata-disk-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A disk on which this is a flush, whatever the thread. */
function diskOf(flush: () => Promise<void>): Disk {
  return { ...systemDisk(), flush };
}

/** The store's own transactions on a file with one table. `disk` is a flush, or a whole disk. */
function openNotes(given: Disk | (() => Promise<void>) = systemDisk()) {
  const disk = typeof given === 'function' ? diskOf(given) : given;
  const database = new Database(join(directory, 'own.db'));
  database.pragma('journal_mode = wal');
  database.exec('create table if not exists note (text text)');
  const query = new Kysely({ dialect: new SqliteDialect({ database }) });
  const connection = createConnection(database, disk);
  const group = createGroupCommit(connection);
  const insert =
    (text: string): Unit<number> =>
    (transaction) =>
      transaction.run(sql`insert into note (text) values (${text})`.compile(query));
  const list: Unit<readonly string[]> = async (transaction) =>
    (await transaction.rows(sql<{ text: string }>`select text from note`.compile(query))).map(({ text }) => text);
  return {
    group,
    insert,
    list,
    database,
    connection,
    async [Symbol.asyncDispose]() {
      await group.close();
      connection.close();
    },
  };
}

/** A slow disk. It keeps what the files contained when the write was requested. */
function createDisk(answerMs: () => number) {
  let kept: readonly Buffer[] = [];
  let keptBy = 0;
  let flushes = 0;
  const ask = () => {
    flushes += 1;
    const number = flushes;
    const written = FILES.map((file) => readFileSync(join(directory, file)));
    return () => {
      if (number > keptBy) [kept, keptBy] = [written, number];
    };
  };
  return {
    flushes: () => flushes,
    async toDisk() {
      const answer = ask();
      await sleep(answerMs());
      answer();
    },
    toDiskHere: () => ask()(),
    afterPowerFailure(): readonly unknown[] {
      const place = mkdtempSync(join(directory, 'after-'));
      for (const [index, bytes] of kept.entries()) writeFileSync(join(place, FILES[index] ?? ''), bytes);
      const database = new Database(join(place, 'own.db'));
      const texts = database.prepare('select text from note').pluck().all();
      database.close();
      return texts;
    },
  };
}

describe('a write', () => {
  const step = fc.record({
    kind: fc.constantFrom('write' as const, 'ahead' as const, 'lazily' as const, 'read' as const),
    pauseMs: fc.constantFrom(0, 0, 0, 1, 3),
    diskMs: fc.constantFrom(0, 1, 4),
  });

  it('survives a power failure once it has resolved', SIZED, async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 16 });
    const property = fc.asyncProperty(steps, fc.boolean(), async (steps, isQuick) => {
      rmSync(join(directory, 'own.db'), { force: true });
      let diskMs = 0;
      const disk = createDisk(() => diskMs);
      await using notes = openNotes({ flush: disk.toDisk, flushHere: disk.toDiskHere, now: () => 0 });
      for (let count = 0; isQuick && count < 32; count += 1) await notes.group.write(notes.insert('early'));
      const survives = (text: string) => () => expect(disk.afterPowerFailure()).toContain(text);
      const ends: Promise<void>[] = [];
      for (const [index, { kind, pauseMs, ...rest }] of steps.entries()) {
        ({ diskMs } = rest);
        const text = `${kind} ${index}`;
        const insert = notes.insert(text);
        if (kind === 'write') ends.push(notes.group.write(insert).then(survives(text)));
        if (kind === 'ahead')
          ends.push(notes.group.writeAhead(insert).then(({ durable }) => durable.then(survives(text))));
        if (kind === 'lazily') await notes.group.writeLazily(insert);
        if (kind === 'read') await notes.group.read(notes.list);
        if (pauseMs > 0) await sleep(pauseMs);
      }
      await Promise.all(ends);
    });
    await fc.assert(property, { numRuns: sized({ small: 20, full: 200 }) });
  });

  it('takes what was written without waiting to the disk, too', async () => {
    const disk = createDisk(() => 0);
    await using notes = openNotes(disk.toDisk);
    await notes.group.writeLazily(notes.insert('first'));
    expect(disk.flushes()).toBe(0);
    await notes.group.write(notes.insert('second'));
    expect(disk.afterPowerFailure()).toEqual(['first', 'second']);
  });

  it('is read by others before the disk has it', async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await using notes = openNotes(() => {
      asked.resolve();
      return answered.promise;
    });
    let isDurable = false;
    const { durable, result } = await notes.group.writeAhead(notes.insert('ahead'));
    const ended = durable.then(() => {
      isDurable = true;
    });
    await asked.promise;
    expect(result).toBe(1);
    expect(await notes.group.read(notes.list)).toEqual(['ahead']);
    await notes.group.writeLazily(notes.insert('later'));
    expect(await notes.group.read(notes.list)).toEqual(['ahead', 'later']);
    expect(isDurable).toBe(false);
    answered.resolve();
    await ended;
  });

  it('shares the next answer of a slow disk with others', async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    let flushes = 0;
    await using notes = openNotes(async () => {
      flushes += 1;
      asked.resolve();
      await answered.promise;
    });
    const first = notes.group.write(notes.insert('first'));
    await asked.promise;
    const written = [];
    for (let index = 0; index < 20; index += 1) {
      written.push(await notes.group.writeAhead(notes.insert(String(index))));
      if (index === 10) await sleep(5);
    }
    answered.resolve();
    await Promise.all([first, ...written.map(({ durable }) => durable)]);
    expect(flushes).toBe(2);
  });

  it('shares one answer with those that are committed with it', async () => {
    const disk = createDisk(() => 5);
    await using notes = openNotes(disk.toDisk);
    await Promise.all(['first', 'second', 'third'].map((text) => notes.group.write(notes.insert(text))));
    expect(disk.flushes()).toBe(1);
  });

  it('stays in the log after a disk has failed', async () => {
    await using notes = openNotes(() => Promise.reject(new Error('i/o error')));
    const before = readFileSync(join(directory, 'own.db'));
    await expect(notes.group.write(notes.insert('lost'))).rejects.toThrow('did not confirm');
    for (const work of ['checkpoint', 'writeBack'] as const) {
      await expect(notes.group.alone(() => notes.connection[work]())).rejects.toThrow('did not confirm');
    }
    expect(readFileSync(join(directory, 'own.db'))).toEqual(before);
  });

  it('is uncertain if it was committed before a disk failed', async () => {
    const asked = Promise.withResolvers<void>();
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answers[1]?.resolve();
    let flushes = 0;
    await using notes = openNotes(async () => {
      flushes += 1;
      asked.resolve();
      await answers[flushes - 1]?.promise;
    });
    const first = notes.group.write(notes.insert('first'));
    await asked.promise;
    const { durable } = await notes.group.writeAhead(notes.insert('second'));
    answers[0]?.reject(new Error('i/o error'));
    expect(await Promise.allSettled([first, durable])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });

  it('is waited for when the file is closed', async () => {
    const disk = createDisk(() => 20);
    const notes = openNotes(disk.toDisk);
    expect(notes.database.pragma('synchronous', { simple: true })).toBe(1);
    await notes.group.writeAhead(notes.insert('ahead'));
    await notes[Symbol.asyncDispose]();
    expect(disk.afterPowerFailure()).toEqual(['ahead']);
  });

  it('is waited for while the disk is asked for it', async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const notes = openNotes(() => {
      asked.resolve();
      return answered.promise;
    });
    const ends: string[] = [];
    const written = notes.group.write(notes.insert('reply')).then(() => ends.push('written'));
    await asked.promise;
    const closed = notes[Symbol.asyncDispose]().then(() => ends.push('closed'));
    await sleep(5);
    answered.resolve();
    await Promise.all([written, closed]);
    expect(ends).toEqual(['written', 'closed']);
  });

  it('may fail without anybody waiting for it', async () => {
    await using notes = openNotes(() => Promise.reject(new Error('i/o error')));
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    await notes.group.writeAhead(notes.insert('ahead'));
    await sleep(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('is refused after a disk has failed; reads go on', async () => {
    let isBroken = true;
    await using notes = openNotes(async () => {
      if (isBroken) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    });
    const failed =
      /the disk did not confirm a write \(.*i\/o error\)\. The latest writes may be lost\. Check the disk/s;
    const [first, second] = await Promise.allSettled([
      notes.group.write(notes.insert('first')),
      notes.group.writeAhead(notes.insert('second')).then(({ durable }) => durable),
    ]);
    expect(first).toMatchObject({ reason: { code: 'STORE_UNUSABLE', message: expect.stringMatching(failed) } });
    expect(second).toMatchObject({ reason: { code: 'STORE_UNUSABLE' } });
    isBroken = false;
    await expect(notes.group.write(notes.insert('third'))).rejects.toThrow(failed);
    await expect(notes.group.writeLazily(notes.insert('fourth'))).rejects.toThrow(failed);
    expect(await notes.group.read(notes.list)).toEqual(['first', 'second']);
  });

  it('does not reach the file after a disk has failed', async () => {
    const file = () => readFileSync(join(directory, 'own.db'));
    const notes = openNotes(() => Promise.reject(new Error('i/o error')));
    notes.database.pragma('wal_checkpoint(truncate)');
    const before = file();
    await expect(notes.group.write(notes.insert('lost?'))).rejects.toThrow(/i\/o error/);
    await notes[Symbol.asyncDispose]();
    expect(file().equals(before)).toBe(true);
    await using again = openNotes();
    expect(await again.group.read(again.list)).toEqual(['lost?']);
  });

  it('does not reach the file from a commit in progress', async () => {
    const file = () => readFileSync(join(directory, 'own.db'));
    const notes = openNotes(() => Promise.reject(new Error('i/o error')));
    notes.database.pragma('wal_autocheckpoint = 1');
    notes.database.pragma('wal_checkpoint(truncate)');
    notes.database.exec('begin immediate');
    notes.database.exec("insert into note values ('open')");
    const before = file();
    await expect(notes.connection.log.flush()).rejects.toThrow(/i\/o error/);
    notes.database.exec('commit');
    expect(file().equals(before)).toBe(true);
    await notes[Symbol.asyncDispose]();
    expect(file().equals(before)).toBe(true);
  });
});

describe('a disk that answers quickly', () => {
  /** Every flush takes as long as the newest one was told to. */
  function createTimedDisk() {
    const threads: ('here' | 'elsewhere')[] = [];
    let [nowMs, flushMs] = [0, 0.2];
    const made: Disk = {
      now: () => nowMs,
      flushHere() {
        threads.push('here');
        nowMs += flushMs;
      },
      async flush() {
        threads.push('elsewhere');
        nowMs += flushMs;
      },
    };
    return {
      made,
      threads,
      take(ms: number) {
        flushMs = ms;
      },
    };
  }

  async function writeTimes(notes: ReturnType<typeof openNotes>, count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await notes.group.write(notes.insert(String(index)));
  }

  it('is asked on this thread once most are quick', async () => {
    const disk = createTimedDisk();
    await using notes = openNotes(disk.made);
    for (let round = 0; round < 4; round += 1) {
      disk.take(4);
      await writeTimes(notes, 1);
      disk.take(0.2);
      await writeTimes(notes, 6);
    }
    await writeTimes(notes, 4);
    expect(new Set(disk.threads.splice(0))).toEqual(new Set(['elsewhere']));
    await writeTimes(notes, 1);
    expect(disk.threads).toEqual(['here']);
  });

  it('is asked on this thread though the other answers late', async () => {
    const disk = createTimedDisk();
    await using notes = openNotes(disk.made);
    disk.take(2.9);
    await writeTimes(notes, 28);
    disk.take(0.2);
    await writeTimes(notes, 1);
    expect(disk.threads).toEqual([...Array(28).fill('elsewhere'), 'here']);
  });

  it('is asked on another thread once five are slow', async () => {
    const disk = createTimedDisk();
    await using notes = openNotes(disk.made);
    await writeTimes(notes, 32);
    disk.threads.length = 0;
    disk.take(1.5);
    await writeTimes(notes, 5);
    disk.take(0.2);
    await writeTimes(notes, 28);
    expect(disk.threads).toEqual([...Array(5).fill('here'), ...Array(28).fill('elsewhere')]);
    await writeTimes(notes, 1);
    expect(disk.threads.at(-1)).toBe('here');
  });

  it('is asked on another thread once it took long', async () => {
    const disk = createTimedDisk();
    await using notes = openNotes(disk.made);
    await writeTimes(notes, 32);
    disk.threads.length = 0;
    disk.take(10);
    await writeTimes(notes, 1);
    disk.take(0.2);
    await writeTimes(notes, 29);
    expect(disk.threads).toEqual(['here', ...Array(28).fill('elsewhere'), 'here']);
  });

  it('flushes once what was committed together', async () => {
    const disk = createTimedDisk();
    await using notes = openNotes(disk.made);
    await writeTimes(notes, 32);
    disk.threads.length = 0;
    await Promise.all(['first', 'second', 'third'].map((text) => notes.group.write(notes.insert(text))));
    expect(disk.threads).toEqual(['here']);
  });

  it('flushes a reply while it flushes a message', async () => {
    const disk = createTimedDisk();
    const answered = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let isSlow = false;
    const flush = async (descriptor: number) => {
      if (!isSlow) return await disk.made.flush(descriptor);
      asked.resolve();
      await answered.promise;
    };
    await using notes = openNotes({ ...disk.made, flush });
    await writeTimes(notes, 32);
    isSlow = true;
    const { durable } = await notes.group.writeAhead(notes.insert('message'));
    await asked.promise;
    await notes.group.write(notes.insert('reply'));
    answered.resolve();
    await durable;
  });

  it('holds up nobody while another thread waits for it', async () => {
    const disk = createTimedDisk();
    const answered = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let isStuck = false;
    const flush = async (descriptor: number) => {
      await disk.made.flush(descriptor);
      if (!isStuck) return;
      asked.resolve();
      await answered.promise;
    };
    await using notes = openNotes({ ...disk.made, flush });
    await writeTimes(notes, 32);
    disk.threads.length = 0;
    isStuck = true;
    disk.take(4);
    await notes.group.writeAhead(notes.insert('message'));
    await asked.promise;
    const reply = notes.group.write(notes.insert('reply'));
    await notes.group.read(notes.list);
    answered.resolve();
    await reply;
    expect(disk.threads).toEqual(['elsewhere', 'elsewhere']);
  });

  it('refuses what either thread flushed when it failed', async () => {
    const disk = createTimedDisk();
    const reported = new Set<number>();
    const answered = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let isBroken = false;
    const failOnce = (descriptor: number) => {
      if (!isBroken || reported.has(descriptor)) return;
      reported.add(descriptor);
      throw new Error('i/o error');
    };
    const flush = async (descriptor: number) => {
      if (!isBroken) return await disk.made.flush(descriptor);
      asked.resolve();
      await answered.promise.then(() => failOnce(descriptor));
    };
    await using notes = openNotes({ ...disk.made, flush, flushHere: failOnce });
    await writeTimes(notes, 32);
    isBroken = true;
    const { durable } = await notes.group.writeAhead(notes.insert('message'));
    await asked.promise;
    const reply = notes.group.write(notes.insert('reply'));
    await expect(reply).rejects.toThrow('did not confirm');
    answered.resolve();
    await expect(durable).rejects.toThrow('did not confirm');
  });

  it('refuses all further writes once it has failed', async () => {
    const disk = createTimedDisk();
    let isBroken = false;
    const flushHere = () => {
      if (isBroken) throw new Error('i/o error');
      disk.made.flushHere(0);
    };
    await using notes = openNotes({ ...disk.made, flushHere });
    await writeTimes(notes, 40);
    isBroken = true;
    await expect(notes.group.write(notes.insert('first'))).rejects.toThrow('did not confirm');
    isBroken = false;
    await expect(notes.group.write(notes.insert('second'))).rejects.toThrow('did not confirm');
  });
});

it('joins messages with the flush of a reply', async () => {
  let flushes = 0;
  await using notes = openNotes(async () => {
    flushes += 1;
  });
  const { durable } = await notes.group.writeAhead(notes.insert('message'));
  await notes.group.write(notes.insert('reply'));
  await durable;
  expect(flushes).toBe(1);
  const [, together] = await Promise.all([
    notes.group.write(notes.insert('reply')),
    notes.group.writeAhead(notes.insert('message')),
  ]);
  await together.durable;
  await sleep(5);
  expect(flushes).toBe(2);
  await (await notes.group.writeAhead(notes.insert('alone'))).durable;
  expect(flushes).toBe(3);
});

it('closes although another process has hung while it wrote', async () => {
  const notes = openNotes();
  const other = new Database(join(directory, 'own.db'));
  other.exec('begin immediate');
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 5_000));
  const [written, closed] = await Promise.allSettled([notes.group.write(notes.insert('late')), notes.group.close()]);
  clock.mockRestore();
  other.close();
  notes.connection.close();
  expect([written.status, closed.status]).toEqual(['rejected', 'fulfilled']);
});

it('recovers when the log can be opened again', async () => {
  const disk = createDisk(() => 0);
  await using notes = openNotes(disk.toDisk);
  await notes.group.writeLazily(notes.insert('first'));
  const log = join(directory, 'own.db-wal');
  renameSync(log, `${log}-away`);
  await expect(notes.group.write(notes.insert('second'))).rejects.toThrow(/did not confirm a write \(.*ENOENT/);
  renameSync(`${log}-away`, log);
  await notes.group.write(notes.insert('third'));
  expect(disk.afterPowerFailure()).toEqual(['first', 'second', 'third']);
});

it('never runs shared work twice at once', async () => {
  let running = 0;
  let most = 0;
  const work = coalesce(async () => {
    running += 1;
    most = Math.max(most, running);
    await sleep(1);
    running -= 1;
  });
  const first = work();
  await Promise.all([first.then(work), work()]);
  expect(most).toBe(1);
});

it('leaves the disk to SQLite where it has no log', async () => {
  const database = new Database(join(directory, 'own.db'));
  const connection = createConnection(
    database,
    diskOf(() => Promise.reject(new Error('There is no log.'))),
  );
  await connection.log.flush();
  connection.log.flushHere();
  expect(database.pragma('synchronous', { simple: true })).toBe(2);
  connection.close();
});
