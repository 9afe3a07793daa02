import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SqliteDialect } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKyselyStorage } from '../../../adapters/stores/kysely/index.ts';
import { createPostgresStorage } from '../../../adapters/stores/postgres/index.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { Archive, ArchiveHeader, ArchiveRow, Storage } from '../../../src/adapter-kit.ts';
import { createKit, HERE } from '../../contracts/store-kit.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

interface Place {
  open(): Promise<Storage>;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'strata-identity-'));
  ends.push(() => rm(directory, { recursive: true }));
  return directory;
}

async function archiveOf({ upkeep }: Storage): Promise<Archive> {
  let header: ArchiveHeader = { migrations: [], counts: {} };
  const records: { readonly table: string; readonly row: ArchiveRow }[] = [];
  await upkeep.dump({
    async begin(given) {
      header = given;
    },
    rows: async (table, rows) => void records.push(...rows.map((row) => ({ table, row }))),
  });
  return {
    name: 'kept',
    header,
    async *records() {
      yield* records;
    },
  };
}

/** On any engine. `make` returns an empty place each time. */
function identityOn(make: () => Promise<Place>): void {
  it('stays the same when the store is opened again', async () => {
    const { open } = await make();
    const first = await open();
    expect(first.upkeep.id).toMatch(/^[\w-]{16}$/u);
    await first.store.close();
    const again = await open();
    expect(again.upkeep.id).toBe(first.upkeep.id);
    await again.store.close();
  });

  it('is another one for a restored store', async () => {
    const from = await (await make()).open();
    await createKit(from).say('hello');
    const to = await (await make()).open();
    await to.upkeep.load(await archiveOf(from));
    expect(await to.store.conversations.find(HERE)).not.toBeNull();
    expect(to.upkeep.id).not.toBe(from.upkeep.id);
    await from.store.close();
    await to.store.close();
  });
}

describe('the identity of a file', () => {
  const make = async () => {
    const directory = await temporary();
    return { directory, open: () => createSqliteStorage({ directory, shared: true }) };
  };
  identityOn(make);

  it('is the same for processes that share it', async () => {
    const { open } = await make();
    const storages = [await open(), await open(), await open()];
    expect(new Set(storages.map(({ upkeep }) => upkeep.id)).size).toBe(1);
    for (const { store } of storages) await store.close();
  });

  it('belongs to its copies until somebody deletes it', async () => {
    const { directory, open } = await make();
    const original = await open();
    await original.store.close();
    const copy = await temporary();
    await cp(directory, copy, { recursive: true });
    const openCopy = async () => {
      const { store, upkeep } = await createSqliteStorage({ directory: copy });
      await store.close();
      return upkeep.id;
    };
    expect(await openCopy()).toBe(original.upkeep.id);
    new Database(join(copy, 'strata.db')).exec('delete from identity').close();
    const own = await openCopy();
    expect(own).not.toBe(original.upkeep.id);
    expect(await openCopy()).toBe(own);
  });
});

describe('the identity of a database that Kysely opens', () => {
  identityOn(async () => {
    const file = join(await temporary(), 'own.db');
    const dialect = () => new SqliteDialect({ database: new Database(file) });
    return { open: () => createKyselyStorage({ dialect: dialect(), place: file }) };
  });
});

const postgres = await findPostgres();

describe('the identity of a Postgres database', () => {
  if (postgres.kind === 'missing') return it.skip(`skipped: ${postgres.reason}`);
  let server: PostgresServer;
  let made = 0;
  beforeAll(async () => {
    server = await startPostgres(postgres);
  }, 120_000);
  afterAll(() => server[Symbol.asyncDispose]());
  const make = async () => {
    made += 1;
    const url = await server.database(`identity${made}`);
    return { open: () => createPostgresStorage({ url }) };
  };
  identityOn(make);

  it('is the same for processes that start at once', async () => {
    const { open } = await make();
    const storages = await Promise.all([open(), open(), open(), open()]);
    expect(new Set(storages.map(({ upkeep }) => upkeep.id)).size).toBe(1);
    for (const { store } of storages) await store.close();
  });
});
