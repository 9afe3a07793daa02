import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createKyselyStorage } from '../../../adapters/stores/kysely/index.ts';
import { createUnits } from '../../../adapters/stores/kysely/units.ts';
import type { Tables } from '../../../adapters/stores/sql/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import {
  type Archive,
  type ArchiveHeader,
  type ArchiveRow,
  isStoreAway,
  type Storage,
} from '../../../src/adapter-kit.ts';
import { provenanceContract } from '../../contracts/provenance.ts';
import { searchContract } from '../../contracts/search.ts';
import { storeContract } from '../../contracts/store.ts';
import { createKit } from '../../contracts/store-kit.ts';

const dialectOf = (database: DatabaseSync) =>
  new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          reader: statement.columns().length > 0,
          all: (values) => statement.all(...(values as SQLInputValue[])),
          run: (values) => statement.run(...(values as SQLInputValue[])),
          iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
        };
      },
    },
  });

const open = (database: DatabaseSync, options: { create?: boolean } = {}) =>
  createKyselyStorage({ dialect: dialectOf(database), place: 'node:sqlite', ...options });

async function create() {
  const storage = await open(new DatabaseSync(':memory:'));
  return { storage, dispose: () => storage.store.close() };
}

storeContract('Kysely on node:sqlite', { create });
searchContract('Kysely on node:sqlite', { create });
provenanceContract('Kysely on node:sqlite', { create });

it('a read of a locked database may succeed later', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'strata-locked-'));
  const path = join(folder, 'own.db');
  const storage = await open(new DatabaseSync(path));
  const other = new DatabaseSync(path);
  other.exec('begin exclusive');
  const error: unknown = await createKit(storage)
    .say('hi')
    .catch((thrown) => thrown);
  expect(isStoreAway(error)).toBe(true);
  expect(String(error)).toContain('node:sqlite cannot be used: database is locked');
  other.exec('rollback');
  other.close();
  await createKit(storage).say('hi');
  await storage.store.close();
  await rm(folder, { recursive: true });
});

describe('a transaction', () => {
  const openUnits = () => {
    const query = new Kysely<Tables>({ dialect: dialectOf(new DatabaseSync(':memory:')) });
    return { query, units: createUnits(query, 'here') };
  };
  const insert = (query: Kysely<Tables>, key: string) =>
    query.insertInto('state').values({ namespace: 'n', key, value: 'v' }).compile();

  it('changes nothing if it fails before its statements return', async () => {
    const { query, units } = openUnits();
    await sql`create table state (namespace, key, value)`.execute(query);
    const failed = units.run(async (transaction) => {
      for (const key of ['a', 'b', 'c']) void transaction.run(insert(query, key));
      throw new Error('damaged');
    });
    await expect(failed).rejects.toThrow('damaged');
    expect(await query.selectFrom('state').select('key').execute()).toEqual([]);
  });

  it('goes no further after a failed statement', async () => {
    const { query, units } = openUnits();
    await sql`create table state (namespace, key unique, value)`.execute(query);
    const caught = units.run(async (transaction) => {
      const keys = ['a', 'a', 'b'];
      return await Promise.allSettled(keys.map((key) => transaction.run(insert(query, key))));
    });
    await expect(caught).rejects.toThrow('UNIQUE');
    expect(await query.selectFrom('state').select('key').execute()).toEqual([]);
  });
});

async function archived({ upkeep }: Storage): Promise<Archive> {
  const records: { readonly table: string; readonly row: ArchiveRow }[] = [];
  let header: ArchiveHeader = { migrations: [], counts: {} };
  await upkeep.dump({
    async begin(given) {
      header = given;
    },
    async rows(table, rows) {
      for (const row of rows) records.push({ table, row });
    },
  });
  return {
    name: 'a backup',
    header,
    async *records() {
      yield* records;
    },
  };
}

describe('a database of its own', () => {
  it('is found again, and refused after a newer Strata', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-kysely-'));
    const file = join(directory, 'bot.db');
    await expect(open(new DatabaseSync(file), { create: false })).rejects.toMatchObject({ code: 'STORE_MISSING' });
    const first = await open(new DatabaseSync(file));
    const { conversation } = await createKit(first).say('I like walrus tea.');
    await first.store.close();
    const second = await open(new DatabaseSync(file), { create: false });
    expect(await second.search.entries({ conversationId: conversation.id, text: 'walrus', limit: 1 })).toHaveLength(1);
    await second.store.close();
    const database = new DatabaseSync(file);
    database.exec("insert into kysely_migration values ('9999_later', '')");
    await expect(open(database)).rejects.toMatchObject({ code: 'STORE_NEWER' });
    await rm(directory, { recursive: true });
  });

  it('is refused if another program migrates it', async () => {
    const database = new DatabaseSync(':memory:');
    database.exec("create table kysely_migration (name, timestamp); insert into kysely_migration values ('shop', '')");
    const refused = { code: 'STORE_UNUSABLE', message: expect.stringMatching(/another program .*shop/u) };
    await expect(open(database)).rejects.toMatchObject(refused);
  });

  it('overwrites deleted text in its files', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-kysely-'));
    const file = join(directory, 'bot.db');
    const database = new DatabaseSync(file);
    database.exec('pragma journal_mode = wal; pragma secure_delete = off');
    const storage = await open(database);
    const { store } = storage;
    const { conversation } = await createKit(storage).say(
      'the walrus is a secret '.repeat(1_000),
      {},
      { externalId: 'x' },
    );
    await store.transcript.redact(conversation.id, { externalIds: ['x'], now: 1 });
    for (const name of [file, `${file}-wal`]) expect((await readFile(name)).includes('walrus')).toBe(false);
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('is refused without foreign keys or with another SQL', async () => {
    const loose = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false });
    // Foreign keys cannot be turned on inside a transaction.
    loose.exec('begin');
    await expect(open(loose)).rejects.toThrow('run `pragma foreign_keys = on` in each new connection');
    const dialect = new PostgresDialect({ pool: new pg.Pool({ host: '127.0.0.1', port: 9 }) });
    await expect(createKyselyStorage({ dialect, place: 'Postgres' })).rejects.toThrow(
      'The data at Postgres cannot be used: its dialect does not connect to a database that speaks the SQL of SQLite',
    );
  });

  it('reads a backup of another store', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-kysely-'));
    const source = await createSqliteStorage({ directory });
    const { conversation } = await createKit(source).say('I like walrus tea.');
    const copy = await archived(source);
    await source.store.close();
    const { storage, dispose } = await create();
    await storage.upkeep.load(copy);
    expect(await storage.search.entries({ conversationId: conversation.id, text: 'walrus', limit: 1 })).toHaveLength(1);
    expect(await storage.upkeep.check()).toMatchObject([{ severity: 'ok' }]);
    await dispose();
    await rm(directory, { recursive: true });
  });
});
