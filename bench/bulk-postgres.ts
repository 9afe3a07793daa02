import { Client } from 'pg';
import { createPostgresStorage } from '../adapters/stores/postgres/index.ts';
import { entryShelves } from '../adapters/stores/postgres/search-index.ts';
import { indexText } from '../adapters/stores/postgres/words.ts';
import { shelfOf } from '../adapters/stores/sql/index.ts';
import {
  addFirstRows,
  type BulkConversation,
  type BulkPlace,
  type BulkRow,
  type BulkTable,
  type BulkWriter,
  fill,
} from './bulk.ts';

/** Writes the same rows as `fillSqlite` into a Postgres. */
export async function fillPostgres(url: string, conversations: readonly BulkConversation[]): Promise<void> {
  const storage = await createPostgresStorage({ url });
  await addFirstRows(storage);
  await storage.store.close();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '256MB'");
  // Building the word lists at once afterwards takes a tenth of the time.
  const lists = await client.query<{ name: string; made: string }>(
    `select indexname as name, indexdef as made from pg_indexes where indexname in ('entry_index_words', 'memory_index_words')`,
  );
  for (const { name } of lists.rows) await client.query(`drop index ${name}`);
  await fill(createWriter(client), conversations);
  for (const { made } of lists.rows) await client.query(made);
  await client.query('vacuum analyze');
  await client.end();
}

function createWriter(client: Client): BulkWriter {
  const index = async (table: 'entry_index' | 'memory_index', rows: readonly BulkRow[]) => {
    const { columns, given, values } = columnsOf(rows);
    const picked = columns.map((column) => (column === 'words' ? 'words::tsvector' : column));
    const select = `select ${picked.join(', ')} from unnest(${given}) as added(${columns.join(', ')})`;
    await client.query(`insert into ${table} (${columns.join(', ')}) ${select}`, values);
  };
  return {
    copy: (table, rows) => copy(client, table, rows),
    indexEntries: (entries) =>
      index(
        'entry_index',
        entries.map(({ conversationId, seq, text }) => ({
          conversation_id: conversationId,
          seq,
          ...indexText(entryShelves(conversationId, seq), text),
        })),
      ),
    indexMemories: (memories) =>
      index(
        'memory_index',
        memories.map(({ id, workspace, text }) => ({ id, ...indexText([shelfOf(workspace)], text) })),
      ),
    async conversations() {
      const { rows } = await client.query<BulkPlace>(
        'select key, id::int, next_seq::int as "nextSeq" from conversation',
      );
      return rows;
    },
    run: async (sql) => void (await client.query(sql)),
  };
}

async function copy(client: Client, table: BulkTable, rows: readonly BulkRow[]): Promise<void> {
  const { rows: found } = await client.query<{ name: string }>(
    'select column_name as name from information_schema.columns where table_name = $1',
    [table],
  );
  // The store assigns the number of a conversation.
  const all = found.map(({ name }) => name).filter((name) => table !== 'conversation' || name !== 'id');
  const { columns, given, values } = columnsOf(rows);
  const picked = all.map((name) => (columns.includes(name) ? `added.${name}` : `first.${name}`));
  await client.query(
    `insert into ${table} (${all.join(', ')})
     select ${picked.join(', ')} from (select * from ${table} order by ctid limit 1) as first,
       unnest(${given}) as added(${columns.join(', ')})`,
    values,
  );
}

/** One list per column. */
function columnsOf(rows: readonly BulkRow[]) {
  const columns = Object.keys(rows[0] ?? {});
  const values = columns.map((column) => rows.map((row) => row[column]));
  const types = values.map((list) => (list.some((value) => typeof value === 'string') ? 'text' : 'bigint'));
  return { columns, values, given: types.map((type, place) => `$${place + 1}::${type}[]`).join(', ') };
}
