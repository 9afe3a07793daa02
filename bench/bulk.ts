import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import { entryNumber } from '../adapters/stores/sqlite/search-index.ts';
import { indexText } from '../adapters/stores/sqlite/words.ts';
import { appendPast } from './past.ts';
import { conversationKey } from './world.ts';

export interface BulkConversation {
  readonly name: string;
  readonly entries: number;
  readonly text: () => string;
}

/**
 * Fills a store faster than a store can be filled that must lose nothing: the first entry of each conversation goes
 * through the store, all others are rows of the same shape, written without waiting for the disk.
 */
export async function fillStore(directory: string, conversations: readonly BulkConversation[]): Promise<void> {
  const storage = await createSqliteStorage({ directory });
  for (const { name, text } of conversations) {
    await appendPast({ storage }, { conversation: conversationKey(name), from: 1, count: 1, text });
  }
  await storage.store.close();
  const database = new Database(join(directory, 'strata.db'));
  database.pragma('synchronous = off');
  database.pragma('cache_size = -200000');
  for (const conversation of conversations) fillConversation(database, conversation);
  database.pragma('wal_checkpoint(truncate)');
  database.close();
}

const AT_ONCE = 50_000;

function fillConversation(database: Database.Database, { name, entries, text }: BulkConversation): void {
  const id = database.prepare('select id from conversation where key = ?').pluck().get(conversationKey(name));
  if (typeof id !== 'number') throw new Error(`There is no conversation ${name}`);
  const first = database
    .prepare<[number], Record<string, unknown>>('select * from entry where conversation_id = ?')
    .get(id);
  const columns = Object.keys(first ?? {});
  const places = columns.map((column) => `@${column}`).join(', ');
  const addEntry = database.prepare(`insert into entry (${columns.join(', ')}) values (${places})`);
  const addWords = database.prepare('insert into entry_index (rowid, words) values (?, ?)');
  const addAll = database.transaction((from: number, to: number) => {
    for (let seq = from; seq <= to; seq += 1) {
      const said = text();
      addEntry.run({
        ...first,
        seq,
        external_id: `past-${seq}`,
        parts: JSON.stringify([{ kind: 'text', text: said }]),
      });
      addWords.run(entryNumber(id, seq), indexText(id, said));
    }
  });
  for (let from = 2; from <= entries; from += AT_ONCE) addAll(from, Math.min(entries, from + AT_ONCE - 1));
  database.prepare('update conversation set next_seq = ? where id = ?').run(entries + 1, id);
}
