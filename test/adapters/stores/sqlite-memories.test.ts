import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MemoryRow, Tables } from '../../../adapters/stores/sql/index.ts';
import { createActiveMemories } from '../../../adapters/stores/sqlite/active-memories.ts';
import { createConnection } from '../../../adapters/stores/sqlite/connection.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { watchMemories } from '../../../adapters/stores/sqlite/memory-watch.ts';
import type { Memory, MemoryId, MemoryList, MemoryState, Storage } from '../../../src/adapter-kit.ts';
import { createKit, NOW, READER } from '../../contracts/store-kit.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

const memoryArbitrary = fc.record({
  kind: fc.constantFrom('fact', 'instruction', 'identity', 'preference'),
  subjectId: fc.constantFrom(null, 'u1', 'u2'),
  pinned: fc.boolean(),
  importance: fc.constantFrom(0.2, 0.5, 0.9),
  state: fc.constantFrom('active', 'candidate'),
  audience: fc.constantFrom('public', 'private', 'dm'),
});
const listArbitrary = fc.record(
  {
    kinds: fc.subarray(['fact', 'instruction', 'identity', 'preference'] as const),
    subjectId: fc.constantFrom('u1', 'u3'),
    recall: fc.record({
      subjectId: fc.constantFrom(null, 'u1', 'u2'),
      kinds: fc.subarray(['identity', 'preference'] as const),
    }),
    limit: fc.integer({ min: 1, max: 12 }),
    offset: fc.integer({ min: 0, max: 3 }),
    audience: fc.constantFrom('public', 'private', 'dm'),
  },
  { requiredKeys: ['limit', 'offset', 'audience'] },
);

describe('active memories on SQLite, read at once', () => {
  let directory: string;
  let storage: Storage;
  beforeEach(async () => {
    directory = await createStoreFolder('active');
    storage = await createSqliteStorage({ directory });
  });
  afterEach(async () => {
    await storage.store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const texts = async (list: Partial<MemoryList> = {}) => {
    const query = { reader: READER, states: ['active'] as const, limit: 9, offset: 0, ...list };
    return (await storage.store.memories.list(query)).map((memory) => memory.text);
  };

  it('equals the query for several states', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const ids: MemoryId[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(memoryArbitrary, { maxLength: 4 }), fc.array(listArbitrary), async (made, lists) => {
        const memories = made.map((over, index) => kit.memory(`tea ${ids.length + index}`, over));
        ids.push(...memories.map((memory) => memory.id));
        await kit.save(id, ...memories.map((memory) => ({ kind: 'insert', memory, sources: [1] }) as const));
        for (const { audience, recall, ...rest } of lists) {
          const wanted = recall && { ...recall, ids: ids.filter((_, index) => index % 3 === 0) };
          const list = { reader: { ...READER, audience }, ...rest, ...(wanted && { recall: wanted }) };
          const ask = (states: readonly MemoryState[]) => storage.store.memories.list({ ...list, states });
          expect(await ask(['active'])).toEqual(await ask(['active', 'active']));
        }
      }),
      { numRuns: 30 },
    );
    const find = (states: readonly MemoryState[]) =>
      storage.search.memories({ reader: READER, text: 'tea 3', limit: 20, states });
    expect(await find(['active'])).toEqual(await find(['active', 'active']));
  });

  it('shows every change at once', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const memory = kit.memory('green tea');
    await kit.save(id, { kind: 'insert', memory, sources: [1] });
    expect(await texts()).toEqual(['green tea']);
    const event = { kind: 'edited', at: NOW, actor: 'u1', detail: null } as const;
    await storage.store.memories.change(memory.id, { text: 'black tea' }, event);
    expect(await texts()).toEqual(['black tea']);
    const other = new Database(join(directory, 'strata.db'));
    other.exec("update memory set text = 'white tea'");
    other.close();
    expect(await texts()).toEqual(['white tea']);
    const forget = { memoryIds: [memory.id], tombstones: [], redactions: [], sentences: [], actor: 'u1', now: NOW };
    await storage.store.memories.forget(forget);
    expect(await texts()).toEqual([]);
  });

  it('shows every change of their sources at once', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    await kit.say('it was green', {}, { externalId: 'x2' });
    const memory = kit.memory('green tea');
    await kit.save(id, { kind: 'insert', memory, sources: [1, 2] });
    const sources = async () => {
      const query = { reader: READER, states: ['active'] as const, limit: 9, offset: 0 };
      const found = (await storage.store.memories.list(query)).find(({ text }) => text === 'green tea');
      return found?.sources.map(({ seq, authorId }) => `${seq} ${authorId}`);
    };
    expect(await sources()).toEqual(['1 u1', '2 u1']);
    await storage.store.transcript.redact(id, { externalIds: ['x2'], now: NOW });
    expect(await sources()).toEqual(['1 u1']);
    const other = new Database(join(directory, 'strata.db'));
    other.exec("update entry set author_id = 'u2' where seq = 1");
    other.close();
    expect(await sources()).toEqual(['1 u2']);
  });

  it('are found by their words after every change', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const memory = kit.memory('green tea');
    await kit.save(id, { kind: 'insert', memory, sources: [1] });
    const found = async () => {
      const asked = ['green', 'black', 'white'].map(async (text) => {
        const hits = await storage.search.memories({ reader: READER, text, limit: 5, states: ['active'] });
        return hits.length > 0 ? text : null;
      });
      return (await Promise.all(asked)).filter((text) => text !== null);
    };
    expect(await found()).toEqual(['green']);
    await storage.store.memories.recalled([memory.id], { conversationId: id, now: NOW });
    expect(await found()).toEqual(['green']);
    const event = { kind: 'edited', at: NOW, actor: 'u1', detail: null } as const;
    await storage.store.memories.change(memory.id, { text: 'black tea' }, event);
    expect(await found()).toEqual(['black']);
    const other = new Database(join(directory, 'strata.db'));
    other.exec("update memory set text = 'white tea'");
    other.close();
    expect(await found()).toEqual(['white']);
  });

  it('shows nothing of a forgotten one that had no source', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const memory = kit.memory('green tea');
    await kit.save(null, { kind: 'insert', memory, sources: [] });
    await storage.store.memories.recalled([memory.id], { conversationId: id, now: NOW });
    const find = () => storage.search.memories({ reader: READER, text: 'tea', limit: 9, states: ['active'] });
    const isReadable = () => storage.provenance.areReadable(id, [memory.id]);
    expect([await texts(), await isReadable(), await isReadable()]).toEqual([['green tea'], true, true]);
    expect(await find()).toHaveLength(1);
    await storage.store.memories.forget({
      memoryIds: [memory.id],
      tombstones: [],
      redactions: [],
      sentences: [],
      actor: 'u1',
      now: NOW,
    });
    expect([await texts(), await isReadable(), await find()]).toEqual([[], false, []]);
  });

  it('shows nothing of a change that was undone', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const taken = { id: kit.memory('').id };
    const refused = kit.save(id, kit.inserting('black tea', [1], taken), kit.inserting('green tea', [1], taken));
    const [before, outcome, read] = await Promise.all([texts(), refused.catch(() => 'refused'), texts()]);
    expect(before).toEqual([]);
    expect({ read, outcome, later: await texts() }).toEqual({ read: [], outcome: 'refused', later: [] });
  });

  it('does not wait for a write that waits', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const memory = kit.memory('green tea');
    await kit.save(id, { kind: 'insert', memory, sources: [1] });
    expect(await texts()).toEqual(['green tea']);
    const other = new Database(join(directory, 'strata.db'));
    other.exec('begin immediate');
    const event = { kind: 'edited', at: NOW, actor: 'u1', detail: null } as const;
    const changed = storage.store.memories.change(memory.id, { text: 'black tea' }, event);
    await setImmediate();
    const found = storage.search.memories({ reader: READER, text: 'tea', limit: 5 });
    expect(await Promise.race([changed, Promise.all([texts(), found.then((hits) => hits.length)])])).toEqual([
      ['green tea'],
      1,
    ]);
    other.exec('rollback');
    other.close();
    await changed;
    expect(await texts()).toEqual(['black tea']);
  });

  it('stays as it is whatever a caller does with it', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const memory = kit.memory('green tea');
    await kit.save(id, { kind: 'insert', memory, sources: [1] });
    const query = { reader: READER, states: ['active'] as const, limit: 9, offset: 0 };
    const read = () => storage.store.memories.list(query);
    const clear = (list: readonly unknown[] = []) => Reflect.apply(Array.prototype.splice, list, [0]);
    const deeds: readonly ((list: readonly Memory[]) => unknown)[] = [
      clear,
      ([first]) => Object.assign(first ?? {}, { text: 'black tea' }),
      ([first]) => clear(first?.sources),
      ([first]) => Object.assign(first?.sources[0] ?? {}, { authorId: 'u2' }),
      ([first]) => Object.assign(first?.extractedBy ?? {}, { model: 'another' }),
    ];
    const before = JSON.stringify(await read());
    for (const deed of deeds) {
      const list = await read();
      try {
        deed(list);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
      expect(JSON.stringify(await read())).toBe(before);
    }
    await storage.store.memories.recalled([memory.id], { conversationId: id, now: NOW });
    const [counted] = await read();
    expect(counted).toMatchObject({ recallCount: 1, lastRecalledAt: NOW });
    expect(() => Object.assign(counted ?? {}, { text: 'black tea' })).toThrow(TypeError);
  });

  it('finds all of them where there are many', async () => {
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    await kit.save(id, ...Array.from({ length: 160 }, (_, index) => kit.inserting(`tea ${index}`, [1])));
    expect(await texts({ limit: 500 })).toHaveLength(160);
    expect(await storage.search.memories({ reader: READER, text: 'tea', limit: 500 })).toHaveLength(160);
  });
});

describe('the memories of several places on SQLite', () => {
  /** Reads a place with one memory of this many characters, and counts what was read from the file. */
  function openCache(length: number) {
    const database = new Database(':memory:');
    const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
    const watch = { onRecall: () => undefined };
    const active = createActiveMemories({ query, memoryMark: () => '', restingMark: () => '', watch });
    let reads = 0;
    const rows = async ({ sql }: { readonly sql: string }) => {
      if (sql.includes('from "memory_source"')) return [] as never;
      reads += 1;
      return [{ id: '1', text: 'x'.repeat(length), extracted_by: null } as MemoryRow] as never;
    };
    const transaction = { rows, run: async () => 0 };
    return {
      reads: () => reads,
      ask: (place: number) => active.read(transaction, { ...READER, place: `${READER.place}${place}` }),
      [Symbol.dispose]: () => void database.close(),
    };
  }

  it('are read once for each of many', async () => {
    using cache = openCache(100);
    for (let turn = 0; turn < 3; turn += 1) for (let place = 0; place < 24; place += 1) await cache.ask(place);
    expect(cache.reads()).toBe(24);
  });

  it('are not kept for more places than fit', async () => {
    using cache = openCache(100);
    for (let place = 0; place < 40; place += 1) await cache.ask(place);
    await cache.ask(39);
    expect(cache.reads()).toBe(40);
    await cache.ask(0);
    expect(cache.reads()).toBe(41);
  });

  it('are dropped where nobody asked for the longest time', async () => {
    using cache = openCache(200_000);
    for (const place of [1, 2, 1, 3, 1]) await cache.ask(place);
    expect(cache.reads()).toBe(3);
    await cache.ask(2);
    expect(cache.reads()).toBe(4);
  });
});

it('every change of memories, and every undone transaction, counts', async () => {
  const directory = await createStoreFolder('watched');
  const storage = await createSqliteStorage({ directory });
  const kit = createKit(storage);
  const { id } = await kit.fill(2);
  await kit.save(id, kit.inserting('green tea', [1]));
  await storage.store.close();
  const database = new Database(join(directory, 'strata.db'));
  const watch = watchMemories(database);
  const isCounted = (sql: string) => {
    const before = watch.changes();
    expect(database.prepare(sql).run().changes).toBe(1);
    return watch.changes() > before;
  };
  const columns = database.prepare<[], string>("select name from pragma_table_info('memory')").pluck().all();
  const uncounted = columns.filter((name) => !isCounted(`update memory set ${name} = ${name}`));
  expect(uncounted).toEqual(['recall_count', 'last_recalled_at']);
  const source = 'insert into memory_source select memory_id, conversation_id, 2 from memory_source';
  const changes = [source, 'update memory_source set seq = 3 where seq = 2', 'delete from memory_source where seq = 3'];
  for (const change of [...changes, 'delete from memory']) expect(isCounted(change)).toBe(true);
  const connection = createConnection(database);
  const before = connection.mark();
  connection.begin('write');
  expect(connection.restingMark()).toBeNull();
  connection.commit();
  expect([connection.mark(), connection.restingMark()]).toEqual([before, before]);
  connection.begin('read');
  // As SQLite itself does after some errors.
  database.exec('rollback');
  expect(connection.restingMark()).toBeNull();
  connection.rollback();
  expect(connection.mark()).not.toBe(before);
  connection.close();
  expect(connection.restingMark()).toBeNull();
  await rm(directory, { recursive: true, force: true });
});
