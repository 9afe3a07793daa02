import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import { MEMORY_STATES, type MemoryId, type MemoryList, type Storage } from '../../../src/adapter-kit.ts';
import { createKit, READER } from '../../contracts/store-kit.ts';
import { createStoreFolder } from '../../support/store-folder.ts';

const prepared = vi.spyOn(Database.prototype, 'prepare');

/** The plans are those of any number of rows, because the store keeps no statistics. */
describe('what SQLite reads for a list', () => {
  let directory: string;
  let storage: Storage;
  beforeEach(async () => {
    directory = await createStoreFolder('plans');
    storage = await createSqliteStorage({ directory });
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    for (const text of ['one', 'two', 'three']) await kit.save(id, kit.inserting(text, [1]));
  });
  afterEach(async () => {
    await storage.store.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** How SQLite runs the last statement on the table. */
  async function planOf(table: string, work: () => Promise<unknown>): Promise<string> {
    prepared.mockClear();
    await work();
    const sent = prepared.mock.calls.map(([sql]) => sql).findLast((sql) => sql.includes(`from "${table}"`)) ?? '';
    const database = new Database(join(directory, 'strata.db'), { readonly: true });
    const values = [...sent.matchAll(/\?/gu)].map(() => null);
    const steps = database.prepare<unknown[], { detail: string }>(`explain query plan ${sent}`).all(...values);
    database.close();
    return steps.map(({ detail }) => detail).join('\n');
  }

  const list = (query: Partial<MemoryList>) =>
    storage.store.memories.list({ reader: READER, states: MEMORY_STATES, limit: 2, offset: 0, ...query });

  it('begins a page of memories after the last one', async () => {
    const after = (await list({})).at(-1) ?? null;
    const plan = await planOf('memory', () => list({ after }));
    expect(plan).toContain('memory_listed (place=? AND (pinned,importance,created_at,id)<(?,?,?,?))');
  });

  it('sorts no memories of a place', async () => {
    const plan = await planOf('memory', () => list({}));
    expect(plan.slice(plan.indexOf('RIGHT'))).toContain('INDEX memory_listed (place=?)');
    expect(plan.slice(plan.indexOf('RIGHT'))).not.toContain('ORDER BY');
  });

  it('finds named memories without those of their place', async () => {
    const ids = [(await list({}))[0]?.id ?? ('' as MemoryId)];
    const sharing = { ...READER, audience: 'public', sharePublic: true } as const;
    for (const reader of [READER, sharing]) {
      expect(await planOf('memory', () => list({ reader, ids }))).toMatch(/^SEARCH memory USING INDEX \S+ \(id=\?\)/u);
      const restingOn = { conversationId: 1, seqs: [1] };
      expect(await planOf('memory', () => list({ reader, restingOn, limit: 9 }))).not.toContain('place=?');
    }
  });

  it('begins a page of withheld memories after the last one', async () => {
    const after = { createdAt: 1, id: 'x' as MemoryId };
    const asked = { subjectId: 'u1', within: 'discord', reader: READER, limit: 2 };
    const plan = await planOf('memory', () => storage.provenance.withheld({ ...asked, after }));
    expect(plan).toContain('memory_subject (subject_id=? AND (created_at,id)<(?,?))');
    expect(plan).not.toContain('ORDER BY');
  });

  it('finds waiting posts among those that wait', async () => {
    const plan = await planOf('outbox', () => storage.store.outbox.pending(1));
    expect(plan).toBe('SEARCH outbox USING INDEX outbox_pending (conversation_id=?)');
  });
});
