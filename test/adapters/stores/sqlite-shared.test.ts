import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { Storage } from '../../../src/adapter-kit.ts';
import { createKit, HERE, NOW, post, THERE } from '../../contracts/store-kit.ts';
import { until } from '../../core/compaction/compaction.world.ts';
import { filesWith } from '../../support/on-disk.ts';

let directory: string;
let opened: Storage[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'strata-shared-'));
  opened = [];
});
afterEach(async () => {
  for (const { store } of opened) await store.close();
  await rm(directory, { recursive: true, force: true });
});

/** Each has its own connection, like another process. */
async function open(shared: boolean): Promise<Storage> {
  const storage = await createSqliteStorage({ directory, shared });
  opened.push(storage);
  return storage;
}

describe('a file that processes share', () => {
  it('opens for those that share, never for exclusive use', async () => {
    const first = await open(true);
    const second = await open(true);
    await expect(open(false)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await first.store.close();
    await expect(open(false)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await second.store.close();
    await open(false);
  });

  it('does not open for sharing during exclusive use', async () => {
    await open(false);
    await expect(open(true)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
  });

  it('is prepared by one of several that start together', async () => {
    // Each of two that begin at the same moment can keep the other from being alone.
    const script = `
      import Database from 'better-sqlite3';
      const database = new Database(process.argv[1]);
      database.exec('begin; select count(*) from sqlite_schema');
      console.log('held');
      setTimeout(() => database.close(), 500);`;
    const lock = join(directory, 'strata.lock');
    const other = spawn(process.execPath, ['--input-type=module', '--eval', script, lock], { stdio: 'pipe' });
    await once(other.stdout, 'data');
    const { store } = await open(true);
    await open(true);
    expect(await store.conversations.find(HERE)).toBeNull();
  });

  // Shows: W22
  it('gives each message its own number in every process', async () => {
    const kits = [createKit(await open(true)), createKit(await open(true)), createKit(await open(true))];
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        kits[index % 3]?.append({
          conversation: index % 2 === 0 ? HERE : THERE,
          message: { externalId: `m${index % 290}` },
        }),
      ),
    );
    const numbers = (key: string) =>
      results
        .flatMap((result) => (result?.kind === 'stored' && result.conversation.key === key ? [result.seq] : []))
        .sort((a, b) => a - b);
    expect(numbers(HERE)).toEqual(Array.from({ length: 145 }, (_, index) => index + 1));
    expect(numbers(THERE)).toEqual(Array.from({ length: 145 }, (_, index) => index + 1));
  });

  it('lets one of many simultaneous claims win', async () => {
    const storages = [await open(true), await open(true), await open(true)];
    const { conversation } = await createKit(storages[0] ?? (await open(true))).say('hi');
    const request = { work: 'maintenance', conversationId: conversation.id, now: NOW, leaseMs: 1000 } as const;
    const claims = await Promise.all(storages.map(({ store }) => store.conversations.claim(request)));
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  });

  it.each([true, false])('frees dead processes’ claims for whoever is alone (shared: %s)', async (shared) => {
    const dead = await open(shared);
    const kit = createKit(dead);
    const { claim, conversation } = await kit.say('q', { wantsReply: true, claimLeaseMs: 60_000 });
    if (claim === null) throw new Error('no claim');
    await kit.commitTurn(claim, { posts: [post('a')] });
    await kit.say('q', { wantsReply: true, claimLeaseMs: 60_000 });
    await kit.claim('maintenance', conversation.id);
    await dead.store.close();
    const next = await open(shared);
    expect(await next.store.conversations.get(conversation.id)).toMatchObject({
      replyUntil: null,
      maintenanceUntil: null,
    });
    expect(await next.store.outbox.take({ platform: 'terminal', now: 1, limit: 9 })).toHaveLength(1);
  });

  it('frees nothing while others are there', async () => {
    const other = await open(true);
    const { conversation } = await createKit(other).say('q', { wantsReply: true, claimLeaseMs: 60_000 });
    const next = await open(true);
    expect((await next.store.conversations.get(conversation.id))?.replyUntil).toBe(NOW + 60_000);
  });

  it('is wiped by the next process that is alone', async () => {
    const shared = await open(true);
    const { conversation } = await createKit(shared).say('secret', {}, { externalId: 'x1' });
    await shared.store.transcript.redact(conversation.id, { externalIds: ['x1'], now: NOW });
    await shared.store.close();
    await leaveBehind('kingfisher');
    expect(filesWith(directory, 'kingfisher')).toBe('strata.db');
    await open(false);
    await until(() => filesWith(directory, 'kingfisher') === '');
  });
});

/** What page splits leave in the unused space of a page, where no statement reaches it. */
async function leaveBehind(text: string): Promise<void> {
  const path = join(directory, 'strata.db');
  const file = await readFile(path);
  const pageBytes = file.readUInt16BE(16);
  for (let page = pageBytes; page < file.length; page += pageBytes) {
    const from = page + 8 + 2 * file.readUInt16BE(page + 3);
    const to = page + file.readUInt16BE(page + 5);
    if (file[page] !== 0x0d || to - from < 2 * text.length) continue;
    file.write(text, from + 4);
    return await writeFile(path, file);
  }
  throw new Error('no page has room');
}
