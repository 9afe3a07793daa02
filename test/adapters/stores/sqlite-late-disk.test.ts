import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Tables } from '../../../adapters/stores/sql/index.ts';
import { createConnection } from '../../../adapters/stores/sqlite/connection.ts';
import { createGroupCommit } from '../../../adapters/stores/sqlite/group-commit.ts';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { createLateIndex } from '../../../adapters/stores/sqlite/late-index.ts';
import { systemDisk } from '../../../adapters/stores/sqlite/log.ts';
import { createTextIndex } from '../../../adapters/stores/sqlite/search-index.ts';
import { createKit } from '../../contracts/store-kit.ts';

/** After its first batches the index has nothing left to do, and waits for the next record. */
const IDLE_MS = 100;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'strata-late-disk-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** The late index of a conversation whose messages nobody has recorded, on a disk that answers as told. */
async function openIndex(flush: () => Promise<void>) {
  const storage = await createSqliteStorage({ directory });
  const { id: conversationId } = await createKit(storage).fill(3);
  await storage.store.close();
  const database = new Database(join(directory, 'strata.db'));
  database.exec('delete from entry_unindexed');
  const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  const connection = createConnection(database, { ...systemDisk(), flush });
  const group = createGroupCommit(connection);
  const late = createLateIndex({ query, connection, group, index: createTextIndex(query) });
  return {
    record: (seq: number) => group.writeLazily((tx) => late.add(tx, { conversationId, seq, text: 'recorded' })),
    search: () => late.flush({ conversationId, text: 'recorded', limit: 1 }),
    recorded: () => database.prepare<[], number>('select count(*) from entry_unindexed').pluck().get(),
    async [Symbol.asyncDispose]() {
      late.close();
      await group.close();
      connection.close();
    },
  };
}

it('indexes what was recorded while a batch was flushed', async () => {
  let stall: { readonly asked: () => void; readonly answered: Promise<void> } | null = null;
  await using index = await openIndex(async () => {
    stall?.asked();
    await stall?.answered;
  });
  await index.record(1);
  await expect.poll(index.recorded, { timeout: 5_000 }).toBe(0);
  await sleep(IDLE_MS);
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  stall = { asked: asked.resolve, answered: answered.promise };
  await index.record(2);
  await asked.promise;
  await index.record(3);
  answered.resolve();
  await expect.poll(index.recorded, { timeout: 5_000 }).toBe(0);
});

it('serves a search without waiting for the disk', async () => {
  let flushes = 0;
  await using index = await openIndex(async () => {
    flushes += 1;
  });
  await index.record(1);
  await index.search();
  expect(index.recorded()).toBe(0);
  expect(flushes).toBe(0);
});
