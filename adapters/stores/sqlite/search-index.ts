import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import {
  indexAll,
  type Parameter,
  prepare,
  shelfOf,
  type Tables,
  type TextIndex,
  type Transaction,
} from '../sql/index.ts';
import { indexText } from './words.ts';

/** The full-text tables of SQLite. They contain hashes of words; the text itself stays in its own row. */
export type SearchTables = {
  entry_index: IndexTable;
  summary_index: IndexTable;
  memory_index: IndexTable;
  /** Numbers for rows with text ids, because an index row needs a number. */
  search_key: { number: number; id: string };
  /** Entries that are not indexed yet. */
  entry_unindexed: { conversation_id: number; seq: number };
  /** Indexed words of entries that have lost or changed their text, until they are removed from the index. */
  entry_removal: { number: number; words: string };
};

type IndexTable = {
  rowid: number;
  words: string;
};

export type IndexName = 'entry_index' | 'summary_index' | 'memory_index';

/** Entries of one conversation have consecutive numbers, so a range of seqs is a range of the index. */
export const SEQS_OF_A_CONVERSATION = 2 ** 30;

export function entryNumber(conversationId: number, seq: number): number {
  return conversationId * SEQS_OF_A_CONVERSATION + seq;
}

/** `transaction` uses the same connection as the migrations. */
export const searchMigrations = (transaction: Transaction): Record<string, Migration> => ({
  '0001_search_sqlite': {
    async up(database: Kysely<unknown>): Promise<void> {
      for (const name of ['entry_index', 'summary_index', 'memory_index']) {
        const table = sql.table(name);
        await sql`create virtual table ${table} using fts5(words, content='', tokenize='ascii')`.execute(database);
        // Removed words are overwritten, not only marked.
        await sql`insert into ${table} (${sql.ref(name)}, rank) values ('secure-delete', 1)`.execute(database);
      }
      await sql`create table search_key (number integer primary key, id text not null unique)`.execute(database);
    },
  },
  // A later change rebuilds the index.
  '0004_words_sqlite': { up: async () => undefined },
  '0009_late_index_sqlite': {
    async up(database: Kysely<Tables>): Promise<void> {
      // Deleted with its conversation, like the entries.
      await sql`create table entry_unindexed (
        conversation_id integer not null references conversation (id) on delete cascade,
        seq integer not null,
        primary key (conversation_id, seq)
      ) without rowid`.execute(database);
    },
  },
  // A later change rebuilds the index.
  '0017_inflections_sqlite': { up: async () => undefined },
  '0018_late_removal_sqlite': {
    async up(database: Kysely<Tables>): Promise<void> {
      await sql`create table entry_removal (number integer primary key, words text not null)`.execute(database);
    },
  },
  // A later change rebuilds the index.
  '0019_apostrophes_sqlite': { up: async () => undefined },
  // A later change rebuilds the index.
  '0020_spellings_sqlite': { up: async () => undefined },
  // A later change rebuilds the index.
  '0021_word_parts_sqlite': { up: async () => undefined },
  // A later change rebuilds the index.
  '0022_amounts_sqlite': { up: async () => undefined },
  /** Finds times, days, amounts and codes in other spellings, and telephone numbers without their country. */
  '0023_values_sqlite': {
    async up(database: Kysely<Tables>): Promise<void> {
      await rebuild(database, transaction);
      await sql`delete from entry_unindexed`.execute(database);
      await sql`delete from entry_removal`.execute(database);
    },
  },
});

async function rebuild(database: Kysely<Tables>, transaction: Transaction): Promise<void> {
  for (const name of ['entry_index', 'summary_index', 'memory_index']) {
    await sql`insert into ${sql.table(name)} (${sql.ref(name)}) values ('delete-all')`.execute(database);
  }
  await indexAll({ query: database, index: createTextIndex(database), transaction });
}

/** Indexes at once: for edits, removals and bulk inserts. */
export function createTextIndex(query: Kysely<Tables>): TextIndex {
  const entries = prepareIndex(query, 'entry_index');
  const summaries = createKeyedIndex(query, 'summary_index');
  const memories = createKeyedIndex(query, 'memory_index');
  return {
    entry: (transaction, { conversationId, seq, before, after }) =>
      replace(transaction, entries, {
        number: entryNumber(conversationId, seq),
        before: indexText(conversationId, before),
        after: indexText(conversationId, after),
      }),
    summary: (transaction, { conversationId, id, before, after }) =>
      summaries(transaction, id, {
        before: indexText(conversationId, before),
        after: indexText(conversationId, after),
      }),
    async memory(transaction, before, after) {
      const id = (after ?? before)?.id;
      if (id === undefined) return;
      const words = (row: typeof before) => (row === null ? '' : indexText(shelfOf(row.workspace), row.text));
      await memories(transaction, id, { before: words(before), after: words(after) });
    },
  };
}

interface Replacement {
  readonly number: number;
  readonly before: string;
  readonly after: string;
}

async function replace(
  transaction: Transaction,
  index: ReturnType<typeof prepareIndex>,
  { number, before, after }: Replacement,
): Promise<void> {
  if (before === after) return;
  if (before !== '') await transaction.run(index.remove({ number, words: before }));
  if (after !== '') await transaction.run(index.insert({ number, words: after }));
}

function createKeyedIndex(query: Kysely<Tables>, name: IndexName) {
  const index = prepareIndex(query, name);
  const keys = prepareKeys(query);
  return async (transaction: Transaction, id: string, { before, after }: Omit<Replacement, 'number'>) => {
    if (before === after) return;
    const [key] = await transaction.rows(after === '' ? keys.drop({ id }) : keys.make({ id }));
    if (key !== undefined) await replace(transaction, index, { number: key.number, before, after });
  };
}

type IndexedWords = Pick<IndexTable, 'words'> & { readonly number: number };

export function prepareIndex(query: Kysely<Tables>, name: IndexName) {
  const table = sql.table(name);
  return {
    insert: prepare((p: Parameter<IndexedWords>) => ({
      compile: () => sql`insert into ${table} (rowid, words) values (${p('number')}, ${p('words')})`.compile(query),
    })),
    // Contentless: the statement must supply the indexed text.
    remove: prepare((p: Parameter<IndexedWords>) => ({
      compile: () =>
        sql`insert into ${table} (${sql.ref(name)}, rowid, words) values ('delete', ${p('number')}, ${p('words')})`.compile(
          query,
        ),
    })),
  };
}

function prepareKeys(query: Kysely<Tables>) {
  const keys = query.withTables<SearchTables>();
  return {
    make: prepare((p: Parameter<{ id: string }>) =>
      keys
        .insertInto('search_key')
        .values({ id: p('id'), number: sql<number>`null` })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ id: p('id') }))
        .returning('number'),
    ),
    drop: prepare((p: Parameter<{ id: string }>) =>
      keys.deleteFrom('search_key').where('id', '=', p('id')).returning('number'),
    ),
  };
}
