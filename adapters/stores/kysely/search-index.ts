import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import {
  type EngineIndex,
  indexAll,
  shelfOf,
  type Tables,
  type Transaction,
  transactionOf,
  wordsOnShelf,
} from '../sql/index.ts';

/** One row for each word of a text. The words are hashes; the text itself stays in its own row. */
export type SearchTables = {
  entry_word: WordTable & { conversation_id: number; seq: number };
  summary_word: WordTable & { id: string };
  memory_word: WordTable & { id: string };
};

export type SearchQuery = Kysely<Tables & SearchTables>;

type WordTable = {
  word: string;
  occurrences: number;
  /** Words of the text. */
  length: number;
};

export const searchMigrations: Record<string, Migration> = {
  '0001_words_kysely': {
    async up(database: Kysely<unknown>): Promise<void> {
      await createEntryWords(database);
      for (const table of ['summary_word', 'memory_word']) await createKeyedWords(database, table);
    },
  },
  // A later change rebuilds the index.
  '0019_apostrophes_kysely': { up: async () => undefined },
  // A later change rebuilds the index.
  '0020_spellings_kysely': { up: async () => undefined },
  // A later change rebuilds the index.
  '0021_word_parts_kysely': { up: async () => undefined },
  // A later change rebuilds the index.
  '0022_amounts_kysely': { up: async () => undefined },
  /** Finds times, days, amounts and codes in other spellings, and telephone numbers without their country. */
  '0023_values_kysely': {
    async up(database: Kysely<Tables & SearchTables>): Promise<void> {
      for (const table of ['entry_word', 'summary_word', 'memory_word'] as const)
        await database.deleteFrom(table).execute();
      await indexAll({ query: database, index: createTextIndex(database), transaction: transactionOf(database) });
    },
  },
};

async function createEntryWords(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('entry_word')
    .addColumn('conversation_id', 'bigint', (column) => column.notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('word', 'text', (column) => column.notNull())
    .addColumn('occurrences', 'bigint', (column) => column.notNull())
    .addColumn('length', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('entry_word_key', ['conversation_id', 'word', 'seq'])
    .execute();
  const index = database.schema.createIndex('entry_word_entry').on('entry_word');
  await index.columns(['conversation_id', 'seq']).execute();
}

async function createKeyedWords(database: Kysely<unknown>, table: string): Promise<void> {
  await database.schema
    .createTable(table)
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('word', 'text', (column) => column.notNull())
    .addColumn('occurrences', 'bigint', (column) => column.notNull())
    .addColumn('length', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${table}_key`, ['word', 'id'])
    .execute();
  await database.schema.createIndex(`${table}_id`).on(table).column('id').execute();
}

/** Values per statement are limited; each word has five at most. */
const BATCH = 100;

export function createTextIndex(query: Kysely<Tables>): EngineIndex {
  const tables = query.withTables<SearchTables>();
  const addEntry = async (
    transaction: Transaction,
    { conversationId, seq, text }: Parameters<EngineIndex['added']>[1],
  ) => {
    for (const words of batchesOf(conversationId, text)) {
      const rows = words.map((word) => ({ conversation_id: conversationId, seq, ...word }));
      await transaction.run(tables.insertInto('entry_word').values(rows).compile());
    }
  };
  const replace = async (transaction: Transaction, table: 'summary_word' | 'memory_word', text: KeyedText) => {
    await transaction.run(tables.deleteFrom(table).where('id', '=', text.id).compile());
    for (const words of batchesOf(text.shelf, text.after)) {
      const rows = words.map((word) => ({ id: text.id, ...word }));
      await transaction.run(tables.insertInto(table).values(rows).compile());
    }
  };
  const entry: EngineIndex['entry'] = async (transaction, { conversationId, seq, before, after }) => {
    if (before === after) return;
    const own = tables.deleteFrom('entry_word').where('conversation_id', '=', conversationId).where('seq', '=', seq);
    await transaction.run(own.compile());
    await addEntry(transaction, { conversationId, seq, text: after });
  };
  return {
    added: addEntry,
    entry,
    rewritten: entry,
    async summary(transaction, { conversationId, id, before, after }) {
      if (before !== after) await replace(transaction, 'summary_word', { id, after, shelf: conversationId });
    },
    async memory(transaction, before, after) {
      const row = after ?? before;
      if (row === null) return;
      const shelf = shelfOf(row.workspace);
      await replace(transaction, 'memory_word', { id: row.id, after: after?.text ?? '', shelf });
    },
  };
}

interface KeyedText {
  readonly id: string;
  readonly after: string;
  readonly shelf: number;
}

/** The words of a text, each once. */
function batchesOf(shelf: number, text: string): readonly (readonly WordTable[])[] {
  const words = wordsOnShelf(shelf, text);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rows = [...counts].map(([word, occurrences]) => ({ word, occurrences, length: words.length }));
  return Array.from({ length: Math.ceil(rows.length / BATCH) }, (_, batch) =>
    rows.slice(batch * BATCH, (batch + 1) * BATCH),
  );
}
