import type { Kysely } from 'kysely';
import type { EntryQuery } from '../../../src/adapter-kit.ts';
import {
  type EngineIndex,
  type IndexedEntry,
  indexed,
  type Parameter,
  prepare,
  type Tables,
  type TextIndex,
  type Transaction,
} from '../sql/index.ts';
import { coalesce } from './coalesce.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';
import type { SearchTables } from './search-index.ts';

/** Full-text indexing makes a transaction several times as long, so new entries are indexed after the reply. */
export interface LateIndex {
  /** Records the entry in the transaction that stores it. */
  add(transaction: Transaction, entry: IndexedEntry): Promise<void>;
  /** Removes the record. False if there was none, because the entry is indexed. */
  drop(transaction: Transaction, place: EntryPlace): Promise<boolean>;
  /** Whether a search would miss entries that are not indexed yet. */
  covers(query: EntryQuery): boolean;
  /** Indexes all recorded entries. */
  flush(): Promise<void>;
  close(): void;
}

export type EntryPlace = Omit<IndexedEntry, 'text'>;

interface LateIndexParts {
  readonly query: Kysely<Tables>;
  readonly connection: Pick<Connection, 'column' | 'checkpoint'>;
  readonly group: Pick<GroupCommit, 'write' | 'alone'>;
  readonly index: Pick<TextIndex, 'entry'>;
}

/** Time between the first record and indexing, so that a reply in progress is posted first. */
const DELAY_MS = 50;
/** Few enough that a turn hardly waits for them. */
const ENTRIES_AT_ONCE = 16;
/** About this many entries fill the log enough for a checkpoint. */
const ENTRIES_A_CHECKPOINT = 128;

export function createLateIndex({ query, connection, group, index }: LateIndexParts): LateIndex {
  const statements = prepareStatements(query);
  let timer: NodeJS.Timeout | null = null;
  let sinceCheckpoint = 0;
  const indexSome = (transaction: Transaction) => indexNoted(transaction, statements, index);
  const flush = coalesce(async () => {
    for (let count = ENTRIES_AT_ONCE; count === ENTRIES_AT_ONCE; sinceCheckpoint += count) {
      count = await group.write(indexSome);
    }
    if (sinceCheckpoint < ENTRIES_A_CHECKPOINT) return;
    sinceCheckpoint = 0;
    await group.alone(() => connection.checkpoint());
  });
  const schedule = () => {
    // The records are stored, so failures are retried with the next entry, and before a search.
    timer ??= setTimeout(() => {
      timer = null;
      flush().catch(() => undefined);
    }, DELAY_MS).unref();
  };
  // What the last process left.
  schedule();
  return {
    async add(transaction, { conversationId, seq, text }) {
      if (text === '') return;
      await transaction.run(statements.add({ conversationId, seq }));
      schedule();
    },
    drop: async (transaction, place) => (await transaction.run(statements.drop(place))) > 0,
    covers: ({ conversationId, fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER }) =>
      connection.column(COVERED, [conversationId, fromSeq, toSeq]).length > 0,
    flush,
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** For an entry that is only recorded, the index contains nothing to remove. */
export function withLateEntries(index: TextIndex, late: Pick<LateIndex, 'add' | 'drop'>): EngineIndex {
  return {
    ...index,
    added: late.add,
    async entry(transaction, change) {
      const isNoted = change.before !== '' && (await late.drop(transaction, change));
      await index.entry(transaction, isNoted ? { ...change, before: '' } : change);
    },
  };
}

const COVERED = 'select 1 from entry_unindexed where conversation_id = ? and seq between ? and ? limit 1';

/** Returns how many it indexed. */
async function indexNoted(
  transaction: Transaction,
  statements: ReturnType<typeof prepareStatements>,
  index: Pick<TextIndex, 'entry'>,
): Promise<number> {
  const rows = await transaction.rows(statements.noted({ limit: ENTRIES_AT_ONCE }));
  for (const { conversationId, seq, role, parts } of rows) {
    await index.entry(transaction, { conversationId, seq, before: '', after: indexed({ role, parts }) });
    await transaction.run(statements.drop({ conversationId, seq }));
  }
  return rows.length;
}

function prepareStatements(query: Kysely<Tables>) {
  const tables = query.withTables<SearchTables>();
  return {
    add: prepare((p: Parameter<EntryPlace>) =>
      tables
        .insertInto('entry_unindexed')
        .values({ conversation_id: p('conversationId'), seq: p('seq') })
        .onConflict((conflict) => conflict.doNothing()),
    ),
    drop: prepare((p: Parameter<EntryPlace>) =>
      tables
        .deleteFrom('entry_unindexed')
        .where('conversation_id', '=', p('conversationId'))
        .where('seq', '=', p('seq')),
    ),
    noted: prepare((p: Parameter<{ limit: number }>) =>
      tables
        .selectFrom('entry_unindexed')
        // An inner join would let SQLite read the whole transcript to find the few that are recorded.
        .crossJoin('entry')
        .whereRef('entry.conversation_id', '=', 'entry_unindexed.conversation_id')
        .whereRef('entry.seq', '=', 'entry_unindexed.seq')
        .select(['entry.conversation_id as conversationId', 'entry.seq', 'role', 'parts'])
        .limit(p('limit')),
    ),
  };
}
