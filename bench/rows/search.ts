import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createSqliteStorage } from '../../adapters/stores/sqlite/index.ts';
import type { Storage } from '../../src/services.ts';
import { fillSqlite } from '../bulk-sqlite.ts';
import { withDirectory } from '../directory.ts';
import type { Figure, RowOptions, RowResult } from '../figure.ts';
import { median, percentile } from '../samples.ts';
import { createWords } from '../words.ts';
import { conversationKey } from '../world.ts';

const SMALL = 10_000;
const WORDS = 12;
const LIMIT = 20;
const SCANS = 5;

/**
 * Search within one conversation of a store with a million entries: an ordinary one, and one that contains nearly all
 * of them.
 */
export async function search({ quick }: RowOptions): Promise<RowResult> {
  const total = quick ? 100_000 : 1_000_000;
  return await withDirectory(async (directory) => {
    const startedAt = performance.now();
    const conversations = [
      { name: 'large', entries: total - SMALL },
      { name: 'small', entries: SMALL },
    ];
    await fillSqlite(
      directory,
      conversations.map(({ name, entries }) => {
        const words = createWords(entries);
        return { name, entries, text: () => words.text(WORDS) };
      }),
    );
    const buildSeconds = (performance.now() - startedAt) / 1000;
    const storage = await createSqliteStorage({ directory });
    const rounds = quick ? 50 : 200;
    const small = await searchIn(storage, { name: 'small', rounds });
    const large = await searchIn(storage, { name: 'large', rounds });
    const ids = { small: await idOf(storage, 'small'), large: await idOf(storage, 'large') };
    await storage.store.close();
    const scans = { small: scan(directory, ids.small), large: scan(directory, ids.large) };
    const among = `${total.toLocaleString('en')} entries`;
    const row = (figure: string, ours: number, baseline: number, barMs: number | null): Figure => ({
      figure,
      unit: 'ms',
      baseline: { of: 'LIKE scan', value: baseline },
      ours,
      bar: barMs === null ? null : { of: 'ours', is: 'below', value: barMs },
    });
    const note = `Questions of five words over ${SMALL.toLocaleString('en')} of ${among} in one conversation, and over the other ${(total - SMALL).toLocaleString('en')} in another; words by Zipf's law. Built in ${buildSeconds.toFixed(0)} s.`;
    return {
      figures: [
        row(`search in one conversation among ${among}, p50`, median(small), scans.small, 5),
        row(`the same, p99`, percentile(small, 99), scans.small, null),
        row(`search in one conversation that holds nearly all of them, p50`, median(large), scans.large, 5),
        row(`the same, p99`, percentile(large, 99), scans.large, null),
      ],
      notes: [note],
    };
  });
}

async function idOf({ store }: Storage, name: string): Promise<number> {
  return (await store.conversations.find(conversationKey(name)))?.id ?? 0;
}

async function searchIn(storage: Storage, of: { readonly name: string; readonly rounds: number }) {
  const conversationId = await idOf(storage, of.name);
  const words = createWords(7);
  const times: number[] = [];
  for (let round = 0; round < of.rounds; round += 1) {
    const text = `${words.text(5)}?`;
    const startedAt = performance.now();
    const hits = await storage.search.entries({ conversationId, text, limit: LIMIT });
    times.push(performance.now() - startedAt);
    if (hits.length === 0) throw new Error(`"${text}" was not found`);
  }
  return times;
}

/** Without an index, a store would read every entry of the conversation. */
function scan(directory: string, conversationId: number): number {
  const database = new Database(join(directory, 'strata.db'), { readonly: true });
  const words = createWords(7);
  const like = database.prepare('select seq from entry where conversation_id = ? and parts like ? order by seq desc');
  const times = Array.from({ length: SCANS }, () => {
    const startedAt = performance.now();
    like.all(conversationId, `%${words.word()}%`);
    return performance.now() - startedAt;
  });
  database.close();
  return median(times);
}
