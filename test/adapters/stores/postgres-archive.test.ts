import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { judgeServer, type ServerFacts } from '../../../adapters/stores/postgres/check.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { Archive, ArchiveHeader, ArchiveRow, BlobId, Storage } from '../../../src/adapter-kit.ts';
import { CALL, createKit, HERE, NOW, post, READER, THREAD } from '../../contracts/store-kit.ts';
import type { Pglite } from '../../support/pglite.ts';
import { openPostgresStorages } from '../../support/postgres-storages.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

interface Kept extends Archive {
  readonly rows: readonly { readonly table: string; readonly row: ArchiveRow }[];
}

async function dump({ upkeep }: Storage): Promise<Kept> {
  let header: ArchiveHeader = { migrations: [], counts: {} };
  let rows: { readonly table: string; readonly row: ArchiveRow }[] = [];
  await upkeep.dump({
    async begin(given) {
      header = given;
      rows = [];
    },
    async rows(table, more) {
      rows.push(...more.map((row) => ({ table, row })));
    },
  });
  return archiveOf(header, rows);
}

function archiveOf(header: ArchiveHeader, rows: Kept['rows']): Kept {
  return {
    name: 'kept',
    header,
    rows,
    async *records() {
      yield* rows;
    },
  };
}

/** Something in every table, and every kind of value. */
async function fill(storage: Storage, messages = 30): Promise<number> {
  const { store, state } = storage;
  const kit = createKit(storage);
  for (let n = 0; n < messages; n++) await kit.say(`message ${n} about the walrus 東京 🙂`);
  await kit.say('in a thread', { conversation: THREAD });
  const { claim, conversation } = await kit.say('a question', { wantsReply: true, claimLeaseMs: 500 });
  if (claim === null) throw new Error('no claim');
  const { id } = conversation;
  await kit.commitTurn(claim, {
    readUpto: messages + 1,
    posts: [post('an answer'), post('more', 1)],
    usage: [CALL],
    record: { note: '{}', parts: [{ hash: 'h', text: 'You are a bot.' }] },
    calibration: { model: 'm', ratio: 1.25, samples: 3, lastInputTokens: 9, revision: 0 },
  });
  const [first] = await store.outbox.pending(id);
  if (first) await store.outbox.sent(first.id, 'p1');
  const held = await kit.claim('maintenance', id);
  const facts = [kit.inserting('likes tea', [1, 2]), kit.inserting('hates rain', [3], { importance: 0.123456789 })];
  await kit.compact(held, kit.summary(1, 10, { text: 'they spoke of a giraffe' }), {
    memories: facts,
    extracted: { from: 0, upto: 10 },
  });
  await store.transcript.redact(id, {
    externalIds: [(await store.transcript.pick(id, [20]))[0]?.externalId ?? ''],
    now: NOW,
  });
  await kit.compact(held, kit.summary(11, 14), { ready: true });
  await store.blobs.put({ id: 'blob' as BlobId, conversationId: id, text: 'long "text"\n\u2028', now: NOW });
  await state.set('place', 'key', { any: ['value', 1, null] });
  await state.of(id).set('spend', { calls: 1 });
  await store.memories.forget({
    memoryIds: [],
    tombstones: [{ place: HERE, fingerprint: 'gone' }],
    redactions: [],
    sentences: [],
    actor: 'u',
    now: NOW,
  });
  const { revision } = await kit.get(id);
  await store.journal.cache.note(id, { print: 'print', losses: [{ cause: 'edit', tokens: 7 }], at: NOW, revision });
  await store.journal.addRun(
    {
      id: 'run',
      conversationId: id,
      work: 'compact',
      trigger: 'manual',
      fromSeq: 1,
      toSeq: 10,
      outcome: 'committed',
      error: null,
      tokensBefore: 9,
      tokensAfter: 1,
      memories: 2,
      model: 'm',
      inputTokens: 1,
      outputTokens: 1,
      startedAt: NOW,
      durationMs: 5,
    } as const,
    revision,
  );
  return id;
}

let storages: Pglite;
beforeAll(async () => {
  storages = await openPostgresStorages();
}, 120_000);
afterAll(() => storages.close());

describe('an archive', () => {
  const directories: string[] = [];
  const disposals: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const dispose of disposals.splice(0)) await dispose();
    for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
  });

  const sqlite = async () => {
    const directory = await createStoreFolder('archive');
    directories.push(directory);
    const storage = await createSqliteStorage({ directory });
    disposals.push(() => storage.store.close());
    return storage;
  };
  const postgres = async () => {
    const { storage, dispose } = await storages.create();
    disposals.push(dispose);
    return storage;
  };

  it('is the same from every engine, with every table', async () => {
    const from = await sqlite();
    await fill(from, 450);
    const first = await dump(from);
    // Readings and held sentences result from whole turns and commands; here their tables are only named.
    const empty = Object.entries(first.header.counts).flatMap(([name, rows]) => (rows === 0 ? [name] : []));
    expect(empty.toSorted()).toEqual(['held', 'memory_reading']);
    const second = await postgres();
    await second.upkeep.load(first);
    const middle = await dump(second);
    expect(middle).toMatchObject({ header: first.header, rows: first.rows });
    const third = await sqlite();
    await third.upkeep.load(middle);
    expect(await dump(third)).toMatchObject({ header: first.header, rows: first.rows });
  });

  it('fills a store that works like its source', async () => {
    const from = await sqlite();
    const id = await fill(from);
    for (const open of [postgres, sqlite]) {
      const storage = await open();
      await storage.upkeep.load(await dump(from));
      const { store, search } = storage;
      expect(await store.transcript.context(id, { maxEntries: 500 })).toEqual(
        await from.store.transcript.context(id, { maxEntries: 500 }),
      );
      expect(await search.entries({ conversationId: id, text: '東京', limit: 500 })).toHaveLength(29);
      expect(await search.summaries({ conversationId: id, text: 'giraffe', limit: 9 })).toHaveLength(1);
      expect(await search.memories({ reader: READER, text: 'rain', limit: 9 })).toHaveLength(1);
      const kit = createKit(storage);
      expect((await kit.say('one more', {}, { externalId: 'new' })).seq).toBe(33);
      const there = await kit.say('elsewhere', { conversation: 'a:b:c' as never }, { externalId: 'new' });
      expect(there.conversation.id).toBe(3);
      expect(await kit.save(id, kit.inserting('gone', [1], { fingerprint: 'gone' }))).toEqual([null]);
      const asked = await kit.say(
        'again',
        { wantsReply: true, claimLeaseMs: 500, now: NOW + 9_000 },
        { externalId: 'q' },
      );
      if (asked.claim === null) throw new Error('no claim');
      const turn = await kit.commitTurn(asked.claim, { readUpto: asked.seq, posts: [post('last')] });
      expect(turn).toMatchObject({ kind: 'committed', posts: [{ id: 3 }] });
    }
  });

  it('of an older version keeps the values of its conversations', async () => {
    const from = await sqlite();
    const id = await fill(from);
    const { header, rows } = await dump(from);
    const kept = rows.filter(({ table }) => table !== 'conversation_state');
    const values = [String(id), '99'].map((key) => ({
      table: 'state',
      row: { namespace: 'last-failure', key, value: '"no"' },
    }));
    const counts = { ...header.counts, conversation_state: 0, state: (header.counts['state'] ?? 0) + values.length };
    const migrations = header.migrations.filter((name) => name < '0016');
    for (const open of [postgres, sqlite]) {
      const { state, store, upkeep } = await open();
      await upkeep.load(archiveOf({ ...header, migrations, counts }, [...kept, ...values]));
      expect(await state.of(id).get('last-failure')).toBe('no');
      expect(await state.list('last-failure')).toEqual([]);
      await store.transcript.redact(id, { externalIds: ['m00000001'], now: NOW });
      expect(await state.of(id).get('last-failure')).toBeUndefined();
    }
  });

  it('fills only an empty store', async () => {
    const from = await sqlite();
    await fill(from);
    for (const open of [postgres, sqlite]) {
      const storage = await open();
      await storage.state.set('a', 'b', 1);
      await expect(storage.upkeep.load(await dump(from))).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' });
      expect((await dump(storage)).rows).toHaveLength(1);
    }
  });

  it.each<readonly [string, RegExp, (kept: Kept) => Kept]>([
    [
      'lacks a row',
      /should hold 2 rows of memory_event, but holds 1/,
      (kept) => {
        const lost = kept.rows.findIndex(({ table }) => table === 'memory_event');
        return archiveOf(kept.header, kept.rows.toSpliced(lost, 1));
      },
    ],
    ['was cut off', /should hold/, (kept) => archiveOf(kept.header, kept.rows.slice(0, 20))],
    [
      'has a row twice',
      /the rows of entry do not fit/,
      (kept) => {
        const at = kept.rows.findIndex(({ table }) => table === 'entry');
        return archiveOf(kept.header, kept.rows.toSpliced(at, 0, ...kept.rows.slice(at, at + 1)));
      },
    ],
    [
      'has a column of tomorrow',
      /do not fit/,
      (kept) =>
        archiveOf(
          kept.header,
          kept.rows.map(({ table, row }) => ({ table, row: { ...row, flavour: 1 } })),
        ),
    ],
    [
      'has a table of tomorrow',
      /no table flavour/,
      (kept) => archiveOf(kept.header, [...kept.rows, { table: 'flavour', row: { id: 1 } }]),
    ],
    [
      'was written after a newer change',
      /newer Strata/,
      (kept) => archiveOf({ ...kept.header, migrations: [...kept.header.migrations, '9999_future'] }, kept.rows),
    ],
  ])('that %s changes nothing', async (_name, problem, spoil) => {
    const from = await sqlite();
    await fill(from);
    const archive = spoil(await dump(from));
    for (const open of [postgres, sqlite]) {
      const storage = await open();
      const error = await storage.upkeep.load(archive).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'BACKUP_INVALID' });
      expect(String(error)).toMatch(problem);
      expect((await dump(storage)).rows).toEqual([]);
      await storage.upkeep.load(await dump(from));
    }
  });
});

describe('the check of a store', () => {
  it('finds nothing wrong with a new one', async () => {
    const { storage, dispose } = await storages.create();
    const findings = await storage.upkeep.check();
    expect(findings.map(({ checkId }) => checkId)).toEqual([
      ...['version', 'rights', 'writes', 'clock', 'durability', 'connections', 'migrations'],
    ]);
    expect(findings.filter(({ severity }) => severity === 'fail')).toEqual([]);
    await dispose();
  });

  const sound: ServerFacts = {
    version: 170_002,
    release: '17.2',
    now: 0,
    may_create: true,
    may_write: true,
    is_owner: true,
    is_read_only: false,
    fsync: 'on',
    synchronous_commit: 'on',
    autovacuum: 'on',
    connections: 97,
    migrations: 9,
  };

  // Shows: W17
  it.each([
    ['version', { version: 130_011, release: '13.11' }, 0, 'Use Postgres 14'],
    ['rights', { may_write: false }, 0, 'grant select, insert, update, delete'],
    ['rights', { may_create: false }, 0, 'grant create on schema'],
    ['rights', { is_owner: false }, 0, 'Connect as the user that created the tables'],
    ['writes', { is_read_only: true }, 0, 'Connect to the primary server'],
    ['clock', {}, 3_000, 'Synchronise the clocks with NTP'],
    ['clock', {}, -3_000, 'Synchronise the clocks with NTP'],
    ['clock', {}, 180_000, 'processes take work from each other'],
    ['durability', { fsync: 'off' }, 0, 'Set fsync to on'],
    ['durability', { autovacuum: 'off' }, 0, 'Set autovacuum to on'],
    ['connections', { connections: 17 }, 0, 'Raise max_connections'],
    ['connections', { connections: 3 }, 0, 'the connection limit of the database or the user'],
  ])('names %s and its remedy when %o, %i ms apart', (id, odd, skewMs, wayOut) => {
    const wrong = judgeServer({ ...sound, ...odd }, skewMs).filter(({ severity }) => severity !== 'ok');
    expect(wrong).toMatchObject([{ checkId: id, fixHint: expect.stringContaining(wayOut) }]);
    expect(judgeServer(sound, 1_000).every(({ severity }) => severity === 'ok')).toBe(true);
  });
});
