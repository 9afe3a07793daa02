import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { isStrataError } from '../../../src/adapter-kit.ts';
import { createKit, NOW } from '../../contracts/store-kit.ts';

const CANARY = 'qzxcanaryw';

describe('another program at the SQLite file', () => {
  let directory: string;
  const outside = () => new Database(join(directory, 'strata.db'));
  const isInLog = async () => (await readFile(join(directory, 'strata.db-wal'))).includes(CANARY);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strata-busy-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('that writes delays a write, never the event loop', async () => {
    const storage = await createSqliteStorage({ directory });
    const kit = createKit(storage);
    await kit.say('before');
    const other = outside();
    other.exec('begin immediate');
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const written = kit.say('while it is locked');
    await sleep(700);
    const longestMs = delay.max / 1e6;
    other.exec('rollback');
    other.close();
    expect((await written).seq).toBe(2);
    expect(longestMs).toBeLessThan(600);
    await storage.store.close();
  });

  it('that writes for ten seconds gets a clear error', async () => {
    const storage = await createSqliteStorage({ directory });
    const kit = createKit(storage);
    await kit.say('before');
    const other = outside();
    other.exec('begin immediate');
    const startedAt = performance.now();
    const writes = await Promise.allSettled([kit.say('one'), kit.say('two')]);
    const waitedMs = performance.now() - startedAt;
    other.exec('rollback');
    other.close();
    for (const write of writes) {
      if (write.status === 'fulfilled') throw new Error('it was written while the file was locked');
      expect(write.reason).toSatisfy((error) => isStrataError(error, 'STORE_UNUSABLE'));
      expect(String(write.reason)).toMatch(/strata\.db.*another program has locked it/);
    }
    // Both share one wait.
    expect(waitedMs).toBeGreaterThan(9_000);
    expect(waitedMs).toBeLessThan(19_000);
    expect((await kit.say('after')).seq).toBe(2);
    await storage.store.close();
  }, 120_000);

  it('that reads is named by a forget, which finishes later', async () => {
    const storage = await createSqliteStorage({ directory });
    const kit = createKit(storage);
    const { conversation } = await kit.say(`my ${CANARY}`);
    const other = outside();
    other.exec('begin');
    other.prepare('select count(*) from entry').get();
    const redactions = [{ conversationId: conversation.id, seqs: [1], summaryIds: [] }];
    const plan = { memoryIds: [], tombstones: [], redactions, sentences: [], actor: 'u1', now: NOW };
    const { remains } = await storage.store.memories.forget(plan);
    expect(remains).toContain('write-ahead log');
    expect(await isInLog()).toBe(true);
    other.exec('rollback');
    other.close();
    const deadline = Date.now() + 15_000;
    while ((await isInLog()) && Date.now() < deadline) await sleep(50);
    expect(await isInLog()).toBe(false);
    await storage.store.close();
  }, 120_000);

  it('leaves nothing that an ended process forgot', async () => {
    const bot = await createSqliteStorage({ directory, shared: true });
    const { conversation } = await createKit(bot).say(`my ${CANARY}`);
    const other = outside();
    other.exec('begin');
    other.prepare('select count(*) from entry').get();
    const command = await createSqliteStorage({ directory, shared: true });
    const redactions = [{ conversationId: conversation.id, seqs: [1], summaryIds: [] }];
    const plan = { memoryIds: [], tombstones: [], redactions, sentences: [], actor: 'u1', now: NOW };
    const { remains } = await command.store.memories.forget(plan);
    expect(remains).toContain('write-ahead log');
    await command.store.close();
    other.exec('rollback');
    other.close();
    expect(await isInLog()).toBe(true);
    const deadline = Date.now() + 60_000;
    while ((await isInLog()) && Date.now() < deadline) await sleep(50);
    expect(await isInLog()).toBe(false);
    await bot.store.close();
  }, 120_000);

  it('is awaited by the next start after the first ended', async () => {
    const first = await createSqliteStorage({ directory });
    const { conversation } = await createKit(first).say(`my ${CANARY}`);
    const other = outside();
    other.exec('begin');
    other.prepare('select count(*) from entry').get();
    const redactions = [{ conversationId: conversation.id, seqs: [1], summaryIds: [] }];
    const plan = { memoryIds: [], tombstones: [], redactions, sentences: [], actor: 'u1', now: NOW };
    await first.store.memories.forget(plan);
    await first.store.close();
    other.close();
    const second = await createSqliteStorage({ directory });
    const isOwed = async () => (await second.state.list('store')).length > 0;
    const deadline = Date.now() + 15_000;
    while ((await isOwed()) && Date.now() < deadline) await sleep(50);
    expect(await isOwed()).toBe(false);
    await second.store.close();
    expect((await readFile(join(directory, 'strata.db'))).includes(CANARY)).toBe(false);
  }, 120_000);
});
