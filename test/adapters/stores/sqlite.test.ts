import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { coreMigrations, type Tables, wordsOnShelf } from '../../../adapters/stores/sql/index.ts';
import { explain } from '../../../adapters/stores/sqlite/failures.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { migrate } from '../../../adapters/stores/sqlite/migrate.ts';
import { type BlobId, makeChildKey, parseKey, type Storage } from '../../../src/adapter-kit.ts';
import { MINUTE_MS } from '../../../src/util/time/time.ts';
import { erasureContract } from '../../contracts/erasure.ts';
import { provenanceContract } from '../../contracts/provenance.ts';
import { searchContract } from '../../contracts/search.ts';
import { storeContract } from '../../contracts/store.ts';
import { CALL, createKit, HERE, type Kit, NOW, textParts } from '../../contracts/store-kit.ts';
import { upgradeContract } from '../../contracts/upgrade.ts';
import { upgradeKillContract } from '../../contracts/upgrade-kill.ts';
import { filesWith } from '../../support/on-disk.ts';
import { RELATIVE_IMPORTS } from '../../support/relative-imports.ts';
import { SIZED, sized } from '../../support/size.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

async function create() {
  const directory = await createStoreFolder('sqlite');
  const storage = await createSqliteStorage({ directory });
  const dispose = async () => {
    await storage.store.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { storage, directory, dispose };
}

const prepared = vi.spyOn(Database.prototype, 'prepare');
const statements = new Set<string>();
// Before the next test clears them.
afterEach(() => {
  for (const [sql] of prepared.mock.calls) statements.add(sql);
});

storeContract('sqlite', { create });
searchContract('sqlite', { create });
provenanceContract('sqlite', { create });

describe('the statements of these contracts', () => {
  // Tables with a row for most conversations or most messages.
  const large = /^SCAN (entry|summary|memory|memory_source|memory_event|memory_reading|maintenance_run|blob)\b/;
  const planOf = (database: Database.Database, sql: string) => {
    const plan = database.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`);
    return plan.all(...Array.from(sql.matchAll(/\?/g), () => 1));
  };
  const scansIn = (database: Database.Database, sql: string) =>
    planOf(database, sql).filter(({ detail }) => large.test(detail));

  it('read no large table from end to end', async () => {
    const { directory, dispose } = await create();
    const database = new Database(join(directory, 'strata.db'));
    // A condition that is never true reads nothing.
    const known = [...statements].filter((sql) => /^(select|update|delete) /.test(sql) && !sql.includes('1 = 0'));
    // The migration of the costs, and a backup.
    const current = known.filter((sql) => !sql.includes('usage_by_day') && !sql.includes('count(*) as rows'));
    expect(current.length).toBeGreaterThan(100);
    expect(current.filter((sql) => scansIn(database, sql).length > 0)).toEqual([]);
    database.close();
    await dispose();
  });

  it('find notes of requests and changes by their indexes', async () => {
    const { directory, dispose } = await create();
    const database = new Database(join(directory, 'strata.db'));
    for (const [part, index] of [
      ['"request" is not null', 'entry_noted'],
      ['"changed_revision" >', 'entry_changed'],
    ] as const) {
      const found = [...statements].filter((sql) => sql.startsWith('select') && sql.includes(part));
      expect(found).not.toEqual([]);
      expect(found.filter((sql) => !planOf(database, sql).some(({ detail }) => detail.includes(index)))).toEqual([]);
    }
    database.close();
    await dispose();
  });
});

describe('sqlite', () => {
  let directory: string;
  const children: ChildProcessWithoutNullStreams[] = [];
  const open = () => createSqliteStorage({ directory });
  const file = () => join(directory, 'strata.db');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strata-sqlite-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  const run = async (statements: readonly string[]) => {
    const database = new Database(file());
    for (const statement of statements) database.exec(statement);
    database.close();
  };
  const CLEAR_INDEX = [
    'drop table entry_unindexed',
    'drop table entry_removal',
    ...['entry_index', 'summary_index', 'memory_index'].map(
      (name) => `insert into ${name} (${name}) values ('delete-all')`,
    ),
  ];
  upgradeContract(CLEAR_INDEX, () => ({ open, run }));
  upgradeKillContract(CLEAR_INDEX, () => ({ open, run, start: () => start('hold') }));

  erasureContract(() => ({ open, startErasing: () => start('erase') }));

  it('finishes the erasure of another process that has died', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const storage = await open();
    const kit = createKit(storage);
    const { conversation } = await kit.say('about violets');
    const other = new Database(join(directory, 'strata.db'));
    other.exec("update conversation set key = ' ' || id");
    other.close();
    await vi.waitFor(async () => {
      vi.advanceTimersByTime(10 * MINUTE_MS);
      expect(await kit.tablesNaming([conversation.id])).toEqual([]);
    }, 10_000);
    vi.useRealTimers();
    await storage.store.close();
  });

  const start = (work: string) => {
    const child = spawn(process.execPath, [
      ...RELATIVE_IMPORTS,
      join(import.meta.dirname, 'sqlite.process.ts'),
      directory,
      work,
    ]);
    children.push(child);
    return child;
  };

  describe('one process at a time', () => {
    it('refuses a second use until the first is closed', async () => {
      const { store } = await open();
      await expect(open()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
      await store.close();
      await (await open()).store.close();
    });

    // Shows: W23
    it('refuses a second process, unless the first was killed', async () => {
      const holder = start('hold');
      await once(holder.stdout, 'data');
      await expect(open()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
      const second = start('hold');
      const [said] = await once(second.stderr, 'data');
      expect(String(said).trim()).toBe('STORE_LOCKED');
      holder.kill('SIGKILL');
      await once(holder, 'exit');
      await (await open()).store.close();
    });
  });

  // Shows: P32
  it('keeps every acknowledged message once and numbered through kills', { ...SIZED, timeout: 360_000 }, async () => {
    const acknowledged = new Map<string, string>();
    for (let round = 0; round < sized({ small: 2, full: 3 }); round++) {
      const child = start('write');
      const ended = once(child, 'exit');
      let lines = 0;
      for await (const line of createInterface(child.stdout)) {
        const [key = '', id = ''] = line.split(' ');
        if (line !== 'ready') acknowledged.set(`${key} ${id}`, key);
        if (++lines === 400 + round * 37) child.kill('SIGKILL');
      }
      // Its output ends before it releases the lock.
      await ended;
    }
    const { store, search } = await open();
    for (const name of new Set(acknowledged.values())) {
      const conversation = await store.conversations.find(parseKey(name).key);
      if (conversation === null) throw new Error(`${name} is lost`);
      const { id, nextSeq } = conversation;
      const entries = await store.transcript.read(id, { fromSeq: 1, toSeq: nextSeq, limit: 1e6 });
      expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: nextSeq - 1 }, (_, index) => index + 1));
      const ids = entries.map((entry) => `${name} ${entry.externalId}`);
      expect(new Set(ids).size).toBe(ids.length);
      const mine = [...acknowledged].filter(([, key]) => key === name).map(([key]) => key);
      expect(mine.filter((key) => !ids.includes(key))).toEqual([]);
      // One search reads at most 500 entries.
      for (let fromSeq = 1; fromSeq < nextSeq; fromSeq += 500) {
        const range = { fromSeq, toSeq: Math.min(fromSeq + 500, nextSeq) - 1 };
        const hits = await search.entries({ conversationId: id, text: 'durable', limit: 500, ...range });
        expect(hits).toHaveLength(range.toSeq - fromSeq + 1);
      }
    }
    await store.close();
  });

  // Shows: W21
  it('undoes only the failed unit of a shared disk write', async () => {
    const { store } = await open();
    const kit = createKit({ store } as Parameters<typeof createKit>[0]);
    const { id } = await kit.fill(1);
    const putNowhere = (name: string) =>
      store.blobs.put({ id: name as never, conversationId: 999, text: 'x', now: NOW });
    const results = await Promise.allSettled([
      kit.say('one'),
      putNowhere('a'),
      store.journal.addUsage(id, [CALL]),
      kit.say('two'),
      putNowhere('b'),
      kit.say('three'),
    ]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    const entries = await store.transcript.read(id, { fromSeq: 2, toSeq: 9, limit: 9 });
    expect(entries.map((entry) => entry.parts)).toEqual([textParts('one'), textParts('two'), textParts('three')]);
    expect(await store.journal.usage(id)).toMatchObject([{ calls: 1 }]);
    await store.close();
  });

  it('leaves the event loop free during a long transaction', async () => {
    const { store, upkeep } = await open();
    await createKit({ store } as Parameters<typeof createKit>[0]).fill(3);
    let turns = 0;
    const turn = setInterval(() => {
      turns += 1;
    });
    const seen: number[] = [];
    const rows = async () => {
      const until = performance.now() + 15;
      while (performance.now() < until);
      seen.push(turns);
    };
    await upkeep.dump({ begin: async () => undefined, rows });
    clearInterval(turn);
    expect(new Set(seen).size).toBeGreaterThan(1);
    await store.close();
  });

  it('indexes the same words as before: changes need a migration', () => {
    const text =
      "We went PAINTING at Zoë's café; 東京へ行った。 ฉันชอบ 🙂 v2.0 l'hôtel 아들이 Wi-Fi getUser ห้อง๓๐๕ 4,000";
    const words = wordsOnShelf(42, text).join(' ');
    expect(createHash('sha256').update(words).digest('hex').slice(0, 16)).toBe('b5f9c00b176ce27d');
  });

  it('finds everything again after it was closed', async () => {
    const first = await open();
    const { conversation } = await createKit(first).say('a walrus');
    await first.state.set('a', 'b', 1);
    await first.store.close();
    const { store, search, state } = await open();
    expect(await store.conversations.get(conversation.id)).toEqual(conversation);
    expect(await search.entries({ conversationId: conversation.id, text: 'walrus', limit: 9 })).toHaveLength(1);
    expect(await state.get('a', 'b')).toBe(1);
    await store.close();
  });

  it('makes the directory that is missing', async () => {
    const { store } = await createSqliteStorage({ directory: join(directory, 'new', 'data') });
    await store.close();
  });

  describe('what cannot be used', () => {
    const refused = async (code: string, reason: RegExp) => {
      const before = await readFile(file());
      const error = await open().then(
        () => null,
        (failure: unknown) => failure,
      );
      expect(error).toMatchObject({ code });
      expect(String(error)).toMatch(reason);
      expect(String(error).split('\n')).toHaveLength(1);
      expect((await readFile(file())).equals(before)).toBe(true);
    };

    it('of another kind is left alone and not locked', async () => {
      await writeFile(file(), 'this is no database, but somebody may need it');
      await refused('STORE_UNUSABLE', /damaged/);
      await rm(file());
      await (await open()).store.close();
    });

    it('is a database of another program', async () => {
      const other = new Database(file());
      other.exec('create table notes (text)');
      other.close();
      await refused('STORE_UNUSABLE', /not created by Strata.* Set --data to another directory\.$/);
    });

    it('is a damaged file', async () => {
      const { store } = await open();
      await createKit({ store } as Parameters<typeof createKit>[0]).fill(200);
      await store.close();
      const bytes = await readFile(file());
      bytes.fill(0x5a, 5 * 4096, 12 * 4096);
      await writeFile(file(), bytes);
      await refused('STORE_UNUSABLE', /damaged .* Restore a backup into another directory: strata restore FILE/);
    });

    it('is a file that was cut off', async () => {
      const { store } = await open();
      await createKit({ store } as Parameters<typeof createKit>[0]).fill(50);
      await store.close();
      await writeFile(file(), (await readFile(file())).subarray(0, 7 * 4096));
      await refused('STORE_UNUSABLE', /damaged/);
    });

    it('was written by a newer program', async () => {
      await (await open()).store.close();
      const database = new Database(file());
      database.prepare("insert into kysely_migration (name, timestamp) values ('9999_future', '2030')").run();
      database.close();
      await refused('STORE_NEWER', /9999_future/);
    });

    it('is a directory that is a file', async () => {
      const path = join(directory, 'file');
      await writeFile(path, 'x');
      await expect(createSqliteStorage({ directory: path })).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
      await expect(createSqliteStorage({ directory: join(path, 'below') })).rejects.toMatchObject({
        code: 'STORE_UNUSABLE',
      });
    });

    it.runIf(existsSync('/proc/1'))('is a directory that the system refuses to create', async () => {
      await expect(createSqliteStorage({ directory: '/proc/1/nope/below' })).rejects.toMatchObject({
        code: 'STORE_UNUSABLE',
      });
    });

    it.each([
      ['a path through a file', 'file/below', /no directory .*Set --data to a directory\.$/],
      ['a circle of links', 'circle', /no directory .*Set --data to a directory\.$/],
      ['a long name', 'a'.repeat(300), /too long .*Set --data to a shorter path\.$/],
      [
        'a directory for the file',
        'other',
        /opened for writing .*limit of open files, or set --data to another directory\.$/,
      ],
      ['a damaged lock', 'locked', /lock is damaged.* Delete .*strata\.lock if no Strata process/],
    ])('is %s: the message says what to do', async (_, name, message) => {
      await writeFile(join(directory, 'file'), 'x');
      await symlink(join(directory, 'circle'), join(directory, 'circle'));
      await mkdir(join(directory, 'other', 'strata.db'), { recursive: true });
      await mkdir(join(directory, 'locked'));
      await writeFile(join(directory, 'locked', 'strata.lock'), 'this is no lock');
      await expect(createSqliteStorage({ directory: join(directory, name) })).rejects.toThrow(message);
    });

    it.each([true, false])('is a directory that nobody may enter (create: %s)', async (isCreating) => {
      await (await open()).store.close();
      await chmod(directory, 0);
      const isRoot = process.geteuid?.() === 0;
      // Modes do not apply to root.
      if (isRoot) process.seteuid?.(NOBODY);
      const opened = createSqliteStorage({ directory, create: isCreating });
      if (isRoot) process.seteuid?.(0);
      await expect(opened).rejects.toThrow(/not allowed to enter it .*EACCES.* Give that user access/);
      await chmod(directory, 0o700);
    });

    it('was moved away: nothing is accepted until it is back', async () => {
      const { store } = await open();
      const kit = createKit({ store } as Parameters<typeof createKit>[0]);
      await kit.say('kept');
      await rename(directory, `${directory}-moved`);
      // The place is looked at from time to time.
      await vi.waitFor(() => expect(kit.say('too soon')).rejects.toThrow(/moved, deleted or unmounted/), 20_000);
      await rename(`${directory}-moved`, directory);
      await kit.say('kept as well');
      await store.close();
    });

    it('lost its log: what was accepted is in the file', async () => {
      const { store } = await open();
      const kit = createKit({ store } as Parameters<typeof createKit>[0]);
      await kit.say('kept');
      await rm(`${file()}-wal`);
      await vi.waitFor(
        () => expect(kit.say('also kept')).rejects.toThrow(/log was deleted while in use .* Restart Strata/),
        20_000,
      );
      const { nextSeq } = await kit.get(1);
      // As after a kill: the next process finds only the files.
      await cp(file(), join(directory, 'copy', 'strata.db'));
      const { store: next } = await createSqliteStorage({ directory: join(directory, 'copy') });
      expect((await next.conversations.get(1))?.nextSeq).toBe(nextSeq);
      await next.close();
      await store.close();
    });

    it('is on a full disk: a migration leaves nothing behind', async () => {
      const database = new Database(file());
      database.pragma('max_page_count = 20');
      const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
      const migrations = coreMigrations('autoincrement');
      const lock = { becomeAlone: () => true };
      const error = await migrate({ database, query, migrations, path: file(), lock }).catch((cause) => cause);
      expect(String(explain(file(), error))).toMatch(/the disk is full .*Nothing was changed\. Free some space/);
      expect(database.prepare('select name from sqlite_schema').all()).toEqual([]);
      database.close();
    });

    it('is a directory where the file should be', async () => {
      await mkdir(file());
      await expect(open()).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
    });
  });

  it('reads the log that a killed process left', async () => {
    const { store } = await open();
    const { conversation } = await createKit({ store } as Parameters<typeof createKit>[0]).say('in the log only');
    const copy = await mkdtemp(join(tmpdir(), 'strata-sqlite-'));
    for (const name of ['strata.db', 'strata.db-wal']) {
      execFileSync(process.execPath, ['-e', COPY, join(directory, name), join(copy, name)]);
    }
    const found = await createSqliteStorage({ directory: copy });
    expect(await found.store.conversations.get(conversation.id)).toEqual(conversation);
    await found.store.close();
    await store.close();
    await rm(copy, { recursive: true });
  });

  describe('deleted text', () => {
    const isOnDisk = () => filesWith(directory, CANARY) !== '';

    /** A busy store in which every layer contained the canary, and later writes moved it. */
    const busy = async () => {
      const storage = await open();
      const kit = createKit(storage);
      await kit.fill(30);
      const { conversation } = await kit.say(`my ${CANARY} is here`, { wantsReply: true }, { externalId: 'canary' });
      const { id } = conversation;
      await Promise.all(
        Array.from({ length: 150 }, (_, n) => kit.say(`message number ${n} ${'filling '.repeat(n % 40)}`)),
      );
      await storage.store.transcript.edit(id, {
        externalId: 'canary',
        parts: textParts(`edited ${CANARY}`),
        tokens: 3,
        now: NOW,
      });
      const held = await kit.claim('maintenance', id);
      const memory = kit.memory(`owns a ${CANARY}`);
      const first = kit.summary(1, 20);
      const second = kit.summary(21, 60, { text: `they spoke of ${CANARY}` });
      const upper = kit.summary(1, 60, { level: 1, text: `once more ${CANARY}` });
      const { revision } = await kit.get(id);
      await kit.compact(held, first, { seenRevision: revision });
      await kit.compact(held, second, {
        seenRevision: revision,
        memories: [{ kind: 'insert', memory, sources: [31] }],
      });
      await kit.condense(held, upper, [first.id, second.id]);
      await answer(kit, storage, id);
      await Promise.all(Array.from({ length: 100 }, (_, n) => kit.say(`and later ${n} ${'words '.repeat(n % 30)}`)));
      expect(isOnDisk()).toBe(true);
      return { storage, kit, id, memory };
    };

    it('is nowhere in the files after it was forgotten', async () => {
      const { storage, id, memory } = await busy();
      await storage.store.memories.forget({
        memoryIds: [memory.id],
        tombstones: [{ place: HERE, fingerprint: 'hash' }],
        redactions: [{ conversationId: id, seqs: [31, 182], summaryIds: [] }],
        sentences: [],
        actor: 'u1',
        now: NOW,
      });
      expect(isOnDisk()).toBe(false);
      await storage.store.close();
      expect(isOnDisk()).toBe(false);
    });

    it('is nowhere in the files after the platform deleted it', async () => {
      const { storage, id } = await busy();
      const redacted = await storage.store.transcript.redact(id, {
        externalIds: ['canary', 'posted canary'],
        now: NOW,
      });
      expect(redacted).toEqual([31, 182]);
      expect(isOnDisk()).toBe(false);
      await storage.store.close();
    });

    it('is nowhere in the files, however pages were split', async () => {
      const storage = await open();
      const kit = createKit(storage);
      const random = seeded(7);
      const seqs: number[] = [];
      let id = 0;
      for (let round = 0; round < 50; round++) {
        const made = Array.from({ length: 1 + random(25) }, async () => {
          const isCanary = random(8) === 0;
          const words = Array.from({ length: random(30) * random(30) }, () => random(1e9).toString(36)).join(' ');
          const { seq, conversation } = await kit.say(isCanary ? `${CANARY}${random(7)} ${words} ${CANARY}` : words);
          id = conversation.id;
          if (isCanary) seqs.push(seq);
        });
        await Promise.all(made);
        const { nextSeq, compactedUpto, revision } = await kit.get(id);
        if (round % 7 !== 6 || nextSeq < compactedUpto + 20) continue;
        const held = await kit.claim('maintenance', id, NOW + round * 10_000);
        const text = `they spoke of ${CANARY} ${'and more '.repeat(random(300))}`;
        await kit.compact(held, kit.summary(compactedUpto + 1, compactedUpto + 15, { text }), {
          seenRevision: revision,
        });
      }
      const summarised = (await storage.store.summaries.live(id)).map((item) => item.fromSeq);
      const redactions = [{ conversationId: id, seqs: [...seqs, ...summarised], summaryIds: [] }];
      const forget = { memoryIds: [], tombstones: [], redactions, sentences: [], actor: 'u1', now: NOW };
      await Promise.all([storage.store.memories.forget(forget), kit.fill(20)]);
      expect(isOnDisk()).toBe(false);
      await kit.fill(200);
      expect(isOnDisk()).toBe(false);
      await storage.store.close();
      const database = new Database(file());
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      for (const index of ['entry_index', 'summary_index']) {
        database.exec(`insert into ${index} (${index}) values ('integrity-check')`);
      }
      database.close();
    }, 120_000);

    it('is nowhere in the files after the conversation was purged', async () => {
      const { storage, id } = await busy();
      await storage.store.conversations.change(id, { kind: 'purge' });
      expect(isOnDisk()).toBe(false);
      await storage.store.close();
    });

    const small: readonly (readonly [string, (storage: Storage, kit: Kit) => Promise<void>])[] = [
      [
        'an edit',
        async ({ store }, kit) => {
          const externalId = kit.next('x');
          const { conversation } = await kit.say(`my ${CANARY}`, {}, { externalId });
          await kit.fill(20);
          expect(isOnDisk()).toBe(true);
          const edit = { externalId, parts: textParts('nothing'), tokens: 3, now: NOW };
          await store.transcript.edit(conversation.id, edit);
        },
      ],
      [
        'the end of a child',
        async ({ store }, kit) => {
          const { conversation } = await kit.say(CANARY, { conversation: makeChildKey(HERE, 'a') });
          await kit.fill(20);
          expect(isOnDisk()).toBe(true);
          await store.conversations.change(conversation.id, { kind: 'end' });
        },
      ],
      [
        'a reset',
        async ({ store }, kit) => {
          const { id } = await kit.fill(20);
          await kit.say(CANARY, { conversation: makeChildKey(HERE, 'a') });
          expect(isOnDisk()).toBe(true);
          await store.conversations.change(id, { kind: 'reset', now: NOW });
        },
      ],
      [
        'the time for long results',
        async ({ store }, kit) => {
          const { id } = await kit.fill(20);
          await store.blobs.put({ id: 'b' as BlobId, conversationId: id, text: CANARY, now: NOW });
          expect(isOnDisk()).toBe(true);
          expect(await store.blobs.expire(NOW + 1)).toBe(1);
        },
      ],
    ];
    it.each(small)('is nowhere in the files soon after %s', async (_, remove) => {
      const storage = await open();
      const kit = createKit(storage);
      await remove(storage, kit);
      await vi.waitFor(() => expect(isOnDisk()).toBe(false), { timeout: 60_000 });
      // The second deletion may be scrubbed later.
      await remove(storage, kit);
      await storage.store.close();
      expect(isOnDisk()).toBe(false);
    });

    it('stays noted while another deletion is being scrubbed', async () => {
      const storage = await open();
      const kit = createKit(storage);
      const { id } = (await kit.say('first', {}, { externalId: 'x1' })).conversation;
      await kit.say('second', {}, { externalId: 'x2' });
      const { transcript } = storage.store;
      const first = transcript.redact(id, { externalIds: ['x1'], now: NOW });
      // This also writes the redaction to the disk, after which its scrub begins.
      await storage.state.set('test', 'beside', '1');
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      const second = transcript.edit(id, { externalId: 'x2', parts: textParts('other'), tokens: 1, now: NOW });
      await Promise.all([first, second]);
      expect(await storage.state.get('store', 'scrub')).toBeDefined();
      await vi.waitFor(async () => expect(await storage.state.get('store', 'scrub')).toBeUndefined());
    });

    it('is nowhere in the files after it has expired', async () => {
      const { storage, id } = await busy();
      await storage.store.conversations.change(id, { kind: 'expire', before: NOW + 1, now: NOW });
      expect(isOnDisk()).toBe(false);
      await storage.store.close();
    });
  });
});

const CANARY = 'qzxcanaryw';
/** The number of the user nobody, or of no user at all. */
const NOBODY = 65_534;
const COPY = 'require("node:fs").copyFileSync(process.argv[1], process.argv[2])';
/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A turn whose answer, tool result and posts carry the canary: one post is out, one is not. */
async function answer(kit: Kit, { store }: Awaited<ReturnType<typeof create>>['storage'], id: number): Promise<void> {
  const held = await kit.claim('reply', id);
  const blob = { id: 'blob' as never, sizeBytes: 9 };
  await store.blobs.put({ id: blob.id, conversationId: id, text: `whole ${CANARY}`, now: NOW });
  const result = { kind: 'tool-result', callId: 'c', tool: 't', text: `head ${CANARY}`, isError: false, blob } as const;
  const turn = await kit.commitTurn(held, {
    readUpto: 181,
    entries: [{ role: 'assistant', parts: [...textParts(`your ${CANARY}`), result], tokens: 3, at: NOW }],
    posts: [0, 1].map((chunk) => ({
      nonce: `n${chunk}`,
      chunk,
      body: { kind: 'text', text: `your ${CANARY}` },
      replyTo: null,
    })),
  });
  if (turn.kind !== 'committed') throw new Error('stale');
  await store.outbox.sent(turn.posts[0]?.id ?? 0, 'posted canary');
}
