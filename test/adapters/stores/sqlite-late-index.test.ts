import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSqliteStorage } from '../../../adapters/stores/sqlite/index.ts';
import type { Storage } from '../../../src/services.ts';
import { createKit, NOW, post, READER, THERE, textParts } from '../../contracts/store-kit.ts';
import { SIZED, sized } from '../../support/size.ts';

const WORDS = ['walrus', 'teapot', 'lantern'] as const;

/** SQLite itself shortens the log at 16 MB, inside a commit. */
const MAX_LOG_BYTES = 8_500_000;

/** After this time without a reply, entries are indexed. */
const INDEXED_MS = 230;

const word = fc.constantFrom(...WORDS);
const seq = fc.integer({ min: 1, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('say' as const), word }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('edit' as const), seq, word }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('redact' as const), seq }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('search' as const), word }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
);

type Step =
  | { readonly kind: 'say'; readonly word: string }
  | { readonly kind: 'edit'; readonly seq: number; readonly word: string }
  | { readonly kind: 'redact'; readonly seq: number }
  | { readonly kind: 'search'; readonly word: string }
  | { readonly kind: 'reopen' | 'wait' };

/** One conversation in a store, with the current text of its messages. */
async function openRoom(directory: string) {
  let storage = await createSqliteStorage({ directory });
  const texts: string[] = [];
  let id = 0;
  const say = async (text: string) => {
    const externalId = `x${texts.push(text)}`;
    ({ id } = (await createKit(storage).say(text, {}, { externalId })).conversation);
  };
  const edit = async (seq: number, text: string) => {
    if (!texts[seq - 1]) return;
    texts[seq - 1] = text;
    await storage.store.transcript.edit(id, { externalId: `x${seq}`, parts: textParts(text), tokens: 1, now: NOW });
  };
  const redact = async (seq: number) => {
    if (!texts[seq - 1]) return;
    texts[seq - 1] = '';
    await storage.store.transcript.redact(id, { externalIds: [`x${seq}`], now: NOW });
  };
  const expectFound = async (text: string) => {
    if (id === 0) return;
    const hits = await storage.search.entries({ conversationId: id, text, limit: 100 });
    const saying = texts.flatMap((own, index) => (own === text ? [index + 1] : []));
    expect(hits.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(saying);
  };
  const reopen = async () => {
    await storage.store.close();
    storage = await createSqliteStorage({ directory });
  };
  const apply = (made: Step) => {
    if (made.kind === 'say') return say(made.word);
    if (made.kind === 'edit') return edit(made.seq, made.word);
    if (made.kind === 'redact') return redact(made.seq);
    if (made.kind === 'search') return expectFound(made.word);
    return made.kind === 'reopen' ? reopen() : sleep(INDEXED_MS);
  };
  return { apply, expectFound, close: () => storage.store.close() };
}

function checkIndex(directory: string): void {
  const database = new Database(join(directory, 'strata.db'));
  database.exec(`insert into entry_index (entry_index) values ('integrity-check')`);
  database.close();
}

describe('the late index', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strata-late-index-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const noted = () => {
    const database = new Database(join(directory, 'strata.db'));
    const [count] = database.prepare<[], number>('select count(*) from entry_unindexed').pluck().all();
    database.close();
    return count;
  };

  it('holds every entry a moment after it was stored', async () => {
    const storage = await createSqliteStorage({ directory });
    await createKit(storage).fill(40);
    await expect.poll(noted, { timeout: 10_000 }).toBe(0);
    await storage.store.close();
  });

  it('finds entries that an earlier process left unindexed', async () => {
    const { setTimeout: start } = globalThis;
    // Never indexes, however slow the machine is.
    const timers = vi.spyOn(globalThis, 'setTimeout');
    timers.mockImplementation((run, ms, ...given) => start(run, (ms ?? 0) < 100 ? ms : 1e6, ...given));
    const first = await createSqliteStorage({ directory });
    const { conversation } = await createKit(first).say('a walrus');
    await first.store.close();
    timers.mockRestore();
    expect(noted()).toBe(1);
    const second = await createSqliteStorage({ directory });
    const hits = await second.search.entries({ conversationId: conversation.id, text: 'walrus', limit: 5 });
    expect(hits.map((hit) => hit.seq)).toEqual([1]);
    await second.store.close();
    expect(noted()).toBe(0);
  });

  it('lets others write while it drops words of many messages', async () => {
    const storage = await createSqliteStorage({ directory });
    const kit = createKit(storage);
    const text = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ');
    const externalIds = Array.from({ length: 24 }, (_, index) => `x${index}`);
    await Promise.all(externalIds.map((externalId) => kit.say(text, {}, { externalId })));
    const { id: conversationId } = await kit.get(1);
    await storage.search.entries({ conversationId, text: 'word1', limit: 1 });
    let isOver = false;
    const redacted = storage.store.transcript.redact(conversationId, { externalIds, now: NOW }).finally(() => {
      isOver = true;
    });
    let written = 0;
    for (; !isOver; written += 1) await kit.say('at the same time', { conversation: THERE });
    expect(await redacted).toHaveLength(24);
    expect(written).toBeGreaterThan(12);
    await storage.store.close();
    checkIndex(directory);
  });

  it('agrees with the text through any mixture of changes', SIZED, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const own = await mkdtemp(join(directory, 'run-'));
        const room = await openRoom(own);
        for (const made of steps) await room.apply(made);
        for (const wanted of WORDS) await room.expectFound(wanted);
        await room.close();
        checkIndex(own);
      }),
      { numRuns: sized({ small: 20, full: 150 }) },
    );
  });

  async function answer(storage: Storage, turns: number): Promise<void> {
    const kit = createKit(storage);
    for (let turn = 0; turn < turns; turn += 1) {
      const { claim, seq } = await kit.say(`question ${turn}`, { wantsReply: true, claimLeaseMs: 500 });
      if (claim === null) throw new Error('no claim');
      const result = await kit.commitTurn(claim, { readUpto: seq, posts: [post('answer')] });
      const [posted] = result.kind === 'committed' ? result.posts : [];
      if (posted !== undefined) await storage.store.outbox.sent(posted.id, `p${turn}`);
    }
  }

  it('keeps the log short while replies follow each other', async () => {
    const storage = await createSqliteStorage({ directory });
    await answer(storage, 120);
    const { size } = await stat(join(directory, 'strata.db-wal'));
    await storage.store.close();
    expect(size).toBeLessThan(MAX_LOG_BYTES);
  });

  it('is brought up to date after replies, before its time', async () => {
    const storage = await createSqliteStorage({ directory });
    const startedAt = performance.now();
    await answer(storage, 20);
    const left = noted();
    const tookMs = performance.now() - startedAt;
    await storage.store.close();
    // On a machine that is too slow for this, it was its time.
    if (tookMs < INDEXED_MS) expect(left).toBeLessThan(20);
  });

  it('is left without a trace of a purged conversation', async () => {
    const storage = await createSqliteStorage({ directory });
    const { id } = await createKit(storage).fill(5);
    await storage.store.conversations.change(id, { kind: 'purge' });
    await storage.store.close();
    expect(noted()).toBe(0);
    checkIndex(directory);
  });
});

describe('recalls', () => {
  it('are counted in lists that were read before', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strata-recalls-'));
    const storage = await createSqliteStorage({ directory });
    const kit = createKit(storage);
    const { id } = await kit.fill(1);
    const memory = kit.memory('tea');
    await kit.save(id, { kind: 'insert', memory, sources: [1] });
    const list = () => storage.store.memories.list({ reader: READER, states: ['active'], limit: 5, offset: 0 });
    expect(await list()).toMatchObject([{ recallCount: 0 }]);
    await storage.store.memories.recalled([memory.id], { conversationId: id, now: NOW + 7 });
    expect((await list())[0]).toMatchObject({ recallCount: 1, lastRecalledAt: NOW + 7 });
    await storage.store.close();
    await rm(directory, { recursive: true, force: true });
  });
});
