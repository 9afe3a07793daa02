import { type Kysely, sql } from 'kysely';
import type { EntryQuery } from '../../../src/adapter-kit.ts';
import {
  coalesce,
  type EngineIndex,
  type IndexedEntry,
  indexed,
  type Parameter,
  prepare,
  skipWhileRunning,
  type Tables,
  type TextIndex,
  type Transaction,
} from '../sql/index.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';
import { createRemovals, EVERYTHING, type NumberRange, numbersOf } from './late-removal.ts';
import { SEQS_OF_A_CONVERSATION, type SearchTables } from './search-index.ts';

/**
 * Full-text indexing makes a transaction several times as long, so new entries are indexed after the reply. To remove
 * words takes even longer, so it is done in small transactions, too.
 */
export interface LateIndex {
  /** Records the entry in the transaction that stores it. */
  add(transaction: Transaction, entry: IndexedEntry): Promise<void>;
  /** Removes the record. False if there was none, because the entry is indexed. */
  drop(transaction: Transaction, place: EntryPlace): Promise<boolean>;
  /** Records that the index contains a text that the entry no longer has. */
  leave(transaction: Transaction, entry: IndexedEntry): Promise<void>;
  /** Whether a search would miss entries that are not indexed yet, or find texts that are gone. */
  covers(query: EntryQuery): boolean;
  /** Brings the index up to date for a search. */
  flush(query: EntryQuery): Promise<void>;
  /** Resolves when no text that is gone is left in the index. */
  cleared(): Promise<void>;
  /** A reply was posted, so indexing and checkpoints that are due delay no answer. Never rejects. */
  rest(): Promise<void>;
  close(): void;
}

export type EntryPlace = Omit<IndexedEntry, 'text'>;

interface LateIndexParts {
  readonly query: Kysely<Tables>;
  readonly connection: Pick<Connection, 'column' | 'checkpoint'>;
  readonly group: Pick<GroupCommit, 'write' | 'writeLazily' | 'alone'>;
  readonly index: Pick<TextIndex, 'entry'>;
}

/**
 * Between the first record and indexing. By then, a turn waits for its model; after quicker ones, what was recorded is
 * indexed once the reply is posted.
 */
const DELAY_MS = 200;
/** Between two batches: of turns that follow each other, few wait for a batch, and none for two. */
const PAUSE_MS = 5;
const MIN_BATCH = 16;
const MAX_BATCH = 256;
const BATCH_SHARE = 1 / 16;
/** A batch of long texts ends after this time. */
const MAX_BATCH_MS = 2;
/**
 * Entries stored, indexed or removed, each 7 to 13 pages of the log. After this many, a checkpoint takes about 2 ms. It is made
 * when nothing is written, or when a reply has been posted.
 */
const WRITES_A_CHECKPOINT = 160;
/** For a store that is never idle: before SQLite makes a checkpoint inside a commit. */
const MAX_WRITES_A_CHECKPOINT = 300;

export function createLateIndex(parts: LateIndexParts): LateIndex {
  const statements = prepareStatements(parts.query);
  const removals = createRemovals(parts.query, parts.group);
  const some = (limit: number) => (tx: Transaction) => indexNoted(tx, { statements, index: parts.index, limit });
  const rounds = createRounds(parts, {
    index: (limit) => parts.group.write(some(limit)),
    indexForSearch: () => parts.group.writeLazily(some(MAX_BATCH)),
    remove: removals.some,
  });
  return {
    async add(transaction, { conversationId, seq, text }) {
      if (text === '') return;
      await transaction.run(statements.add({ conversationId, seq }));
      rounds.noted('new');
    },
    async drop(transaction, place) {
      rounds.noted('changed');
      return (await transaction.run(statements.drop(place))) > 0;
    },
    async leave(transaction, entry) {
      await removals.leave(transaction, entry);
      rounds.noted('gone');
    },
    covers(query) {
      const { conversationId, fromSeq = 0, toSeq = Number.MAX_SAFE_INTEGER } = query;
      const { from, to } = numbersOf(query);
      return parts.connection.column(COVERED, [conversationId, fromSeq, toSeq, from, to]).length > 0;
    },
    async flush(query) {
      await rounds.removeAll(numbersOf(query));
      await rounds.indexAll();
    },
    cleared: coalesce(() => rounds.removeAll(EVERYTHING)),
    rest: rounds.rest,
    close: rounds.close,
  };
}

interface Rounds {
  /** A unit has recorded something. */
  noted(what: 'new' | 'changed' | 'gone'): void;
  indexAll(): Promise<void>;
  removeAll(range: NumberRange): Promise<void>;
  rest(): Promise<void>;
  close(): void;
}

interface Batches {
  /** Waits for the disk, so that the next reply has less to flush. */
  index(limit: number): Promise<Done>;
  indexForSearch(): Promise<Done>;
  remove(range: NumberRange): Promise<Done>;
}

interface Done {
  readonly count: number;
  readonly isMore: boolean;
}

/** Works in the background, in small batches, and makes the checkpoints that are due. */
function createRounds({ group, connection }: LateIndexParts, batches: Batches): Rounds {
  let timer: NodeJS.Timeout | null = null;
  const waiting = createWaiting();
  // What the last process left is not known.
  let leaving = 1;
  let writes = 0;
  const indexBatch = async (index = () => batches.index(batchSize(waiting.count()))) => {
    const { count, isMore } = await waiting.less(index);
    writes += count;
    return isMore;
  };
  const removeBatch = async (range: NumberRange) => {
    const { count, isMore } = await batches.remove(range);
    writes += count;
    // What replaces these texts can be indexed now.
    if (count > 0) waiting.more();
    return isMore;
  };
  const checkpoint = async () => {
    writes = 0;
    await group.alone(() => connection.checkpoint());
    return false;
  };
  /** Returns when to continue, or null. */
  const step = async () => {
    const isIdle = waiting.count() === 0;
    const isDue = writes >= (isIdle ? WRITES_A_CHECKPOINT : MAX_WRITES_A_CHECKPOINT);
    const isMore = isDue ? await checkpoint() : await indexBatch();
    if (isMore) return PAUSE_MS;
    const seen = leaving;
    if (seen > 0) {
      const isMoreLeaving = await removeBatch(EVERYTHING);
      if (!isMoreLeaving && seen === leaving) leaving = 0;
      return PAUSE_MS;
    }
    return waiting.count() > 0 || writes >= WRITES_A_CHECKPOINT ? DELAY_MS : null;
  };
  const schedule = (delayMs: number) => {
    timer ??= setTimeout(async () => {
      // The records are stored, so failures are retried with the next entry, and before a search.
      const next = await step().catch(() => null);
      timer = null;
      if (next !== null) schedule(next);
    }, delayMs).unref();
  };
  const rest = skipWhileRunning(async () => {
    if (writes >= WRITES_A_CHECKPOINT) await checkpoint();
    else if (waiting.count() >= MIN_BATCH) await indexBatch();
  });
  schedule(DELAY_MS);
  return {
    noted(what) {
      writes += 1;
      if (what === 'new') waiting.more();
      if (what === 'gone') leaving += 1;
      schedule(DELAY_MS);
    },
    indexAll: coalesce(async () => {
      while (await indexBatch(batches.indexForSearch));
    }),
    async removeAll(range) {
      while (await removeBatch(range));
    },
    // The timer repeats what fails.
    rest: () => rest().catch(() => undefined),
    close: () => clearTimeout(timer ?? undefined),
  };
}

/** Counts the entries that wait to be indexed; too many if a unit that recorded one failed. */
function createWaiting() {
  // What the last process left is not known.
  let recorded = 1;
  let indexed = 0;
  return {
    count: () => recorded - indexed,
    more() {
      recorded += 1;
    },
    async less(index: () => Promise<Done>): Promise<Done> {
      // More may be recorded before it ends.
      const seen = recorded;
      const done = await index();
      indexed = done.isMore ? Math.min(indexed + done.count, recorded - 1) : Math.max(indexed, seen);
      return done;
    },
  };
}

/** A share of what waits, so that the index keeps up with any rate of messages. */
function batchSize(waiting: number): number {
  return Math.min(Math.max(Math.ceil(waiting * BATCH_SHARE), MIN_BATCH), MAX_BATCH);
}

/** Of an entry that is only recorded, the index contains nothing. */
export function withLateEntries(index: TextIndex, late: Pick<LateIndex, 'add' | 'drop' | 'leave'>): EngineIndex {
  return {
    ...index,
    added: late.add,
    async entry(transaction, change) {
      const isNoted = change.before !== '' && (await late.drop(transaction, change));
      await index.entry(transaction, isNoted ? { ...change, before: '' } : change);
    },
    async rewritten(transaction, change) {
      const { before, after, conversationId, seq } = change;
      const isNoted = before !== '' && (await late.drop(transaction, change));
      if (before !== '' && !isNoted) await late.leave(transaction, { conversationId, seq, text: before });
      await late.add(transaction, { conversationId, seq, text: after });
    },
  };
}

const COVERED = `select 1 from entry_unindexed where conversation_id = ? and seq between ? and ?
  union all select 1 from entry_removal where number between ? and ? limit 1`;

interface Batch {
  readonly statements: ReturnType<typeof prepareStatements>;
  readonly index: Pick<TextIndex, 'entry'>;
  readonly limit: number;
}

async function indexNoted(transaction: Transaction, { statements, index, limit }: Batch) {
  const deadline = performance.now() + MAX_BATCH_MS;
  const rows = await transaction.rows(statements.noted({ limit }));
  let count = 0;
  for (const { conversationId, seq, role, parts } of rows) {
    if (count > 0 && performance.now() > deadline) break;
    await index.entry(transaction, { conversationId, seq, before: '', after: indexed({ role, parts }) });
    await transaction.run(statements.drop({ conversationId, seq }));
    count += 1;
  }
  return { count, isMore: count === limit || count < rows.length };
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
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('entry_removal').select('number').where('number', '=', NUMBER))),
        )
        .limit(p('limit')),
    ),
  };
}

const NUMBER = sql<number>`entry.conversation_id * ${sql.lit(SEQS_OF_A_CONVERSATION)} + entry.seq`;
