import { join } from 'node:path';
import Database from 'better-sqlite3';
import { shelfOf } from '../adapters/stores/sql/index.ts';
import { createSqliteStorage } from '../adapters/stores/sqlite/index.ts';
import { entryNumber } from '../adapters/stores/sqlite/search-index.ts';
import { indexText } from '../adapters/stores/sqlite/words.ts';
import { addFirstRows, type BulkConversation, type BulkPlace, type BulkWriter, fill } from './bulk.ts';

/** Fills a store faster than one that must not lose anything could be filled. */
export async function fillSqlite(directory: string, conversations: readonly BulkConversation[]): Promise<void> {
  const storage = await createSqliteStorage({ directory });
  await addFirstRows(storage);
  await storage.store.close();
  const database = new Database(join(directory, 'strata.db'));
  database.pragma('synchronous = off');
  database.pragma('cache_size = -200000');
  await fill(createWriter(database), conversations);
  database.pragma('wal_checkpoint(truncate)');
  database.close();
}

function createWriter(database: Database.Database): BulkWriter {
  const all = (work: () => void) => database.transaction(work)();
  const addWords = database.prepare('insert into entry_index (rowid, words) values (?, ?)');
  const addKey = database.prepare('insert into search_key (id) values (?)');
  const addMemory = database.prepare('insert into memory_index (rowid, words) values (?, ?)');
  const places = database.prepare<[], BulkPlace>('select key, id, next_seq as nextSeq from conversation');
  return {
    async copy(table, rows) {
      const first = database.prepare<[], Record<string, unknown>>(`select * from ${table} order by rowid`).get() ?? {};
      // The store assigns the number of a conversation.
      const columns = Object.keys(first).filter((column) => table !== 'conversation' || column !== 'id');
      const values = columns.map((column) => `@${column}`);
      const add = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${values.join(', ')})`);
      all(() => {
        for (const row of rows) add.run({ ...first, ...row });
      });
    },
    indexEntries: async (entries) =>
      all(() => {
        for (const { conversationId, seq, text } of entries) {
          addWords.run(entryNumber(conversationId, seq), indexText(conversationId, text));
        }
      }),
    indexMemories: async (memories) =>
      all(() => {
        for (const { id, workspace, text } of memories) {
          addMemory.run(addKey.run(id).lastInsertRowid, indexText(shelfOf(workspace), text));
        }
      }),
    conversations: async () => places.all(),
    run: async (sql) => void database.exec(sql),
  };
}
