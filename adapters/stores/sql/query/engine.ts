import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Memory, MemoryReader } from '../../../../src/adapter-kit.ts';
import type { MemoryRow, Tables } from '../schema/tables.ts';

/** A compiled query with its parameters. `Row` is the type that Kysely derives. */
export type Statement<Row = unknown> = CompiledQuery<Row>;

/** One open transaction. Statements run in the order of the calls, whether or not each is awaited. */
export interface Transaction {
  rows<Row>(statement: Statement<Row>): Promise<readonly Row[]>;
  /** Returns the number of changed rows. */
  run(statement: Statement): Promise<number>;
}

export type Unit<Result> = (transaction: Transaction) => Promise<Result>;

/** The result of a unit that is committed, but may not be on the disk yet. */
export interface Written<Result> {
  readonly result: Result;
  /** Resolves when a power failure can no longer undo it. */
  readonly durable: Promise<void>;
}

/** What the tables require of a database. Everything else in this folder is the same on every engine. */
export interface SqlEngine {
  /** Builds and compiles queries; units run them. */
  readonly query: Kysely<Tables>;
  /** For messages about unexpected states. */
  readonly name: string;
  /** One snapshot. */
  read<Result>(unit: Unit<Result>): Promise<Result>;
  /**
   * One transaction, durable when it resolves. A unit may run a second time from a clean state, so all its effects must
   * go through the transaction.
   */
  write<Result>(unit: Unit<Result>): Promise<Result>;
  /**
   * Like `write`, but it may resolve as soon as later units see the changes. They become durable a moment later, together
   * with those of other units.
   */
  writeAhead<Result>(unit: Unit<Result>): Promise<Written<Result>>;
  /** True if units run concurrently: a transaction must then lock the rows that it reads in order to change them. */
  readonly rowLocks: boolean;
  /**
   * No new claim has a smaller epoch. A server may lose its last commits in a failover; the epoch of a lost claim must not
   * be given again while its holder is still working.
   */
  leastEpoch(): number;
  /** From here to the end of the transaction, no other unit decides from the memories, which are found by many keys. */
  lockMemories(transaction: Transaction): Promise<void>;
  /** Rows were inserted with explicit numbers; the engine must continue after them. */
  numberOn(transaction: Transaction, table: 'conversation' | 'memory_event' | 'outbox'): Promise<void>;
  /**
   * All active memories that the reader may read, with their sources, in any order. Null if there are many, or if the
   * engine prefers to answer each query separately.
   */
  activeMemories(transaction: Transaction, reader: MemoryReader): Promise<readonly Memory[] | null>;
  /** The same list without a transaction, if it was read before and nothing has changed since. Otherwise null. */
  knownMemories(reader: MemoryReader): readonly Memory[] | null;
  /**
   * Within a transaction: if it is equal later, no memory and no source of one has changed in between. Null if the
   * engine cannot tell.
   */
  memoryMark(): string | null;
  readonly index: EngineIndex;
  /** Called when a post was recorded: upkeep that would hold up a reply may run now. Never rejects. */
  rest(): Promise<void>;
  /**
   * Text was deleted permanently and must not remain in the engine's files. Called after the transaction. Returns one
   * sentence about what still contains it, while the engine keeps trying; null if nothing does.
   */
  scrub(): Promise<string | null>;
  /** Part of every transaction that deletes text: after a crash, the next start finishes the scrubbing. */
  noteDeletion(transaction: Transaction): Promise<void>;
  close(): Promise<void>;
}

/**
 * Updates a full-text index in the transaction that changes the text. `before` is what was indexed; empty for nothing.
 */
export interface TextIndex {
  entry(
    transaction: Transaction,
    change: TextChange & { readonly conversationId: number; readonly seq: number },
  ): Promise<void>;
  summary(
    transaction: Transaction,
    change: TextChange & { readonly conversationId: number; readonly id: string },
  ): Promise<void>;
  memory(transaction: Transaction, before: IndexedMemory | null, after: IndexedMemory | null): Promise<void>;
}

export interface EngineIndex extends TextIndex {
  /** For a new entry. An engine may index it later, but before any search that covers it. */
  added(transaction: Transaction, entry: IndexedEntry): Promise<void>;
  /**
   * The same as `entry`, but an engine may do it later: before any search that covers the entry, and before a scrub that
   * follows the transaction.
   */
  rewritten: TextIndex['entry'];
}

export interface IndexedEntry {
  readonly conversationId: number;
  readonly seq: number;
  readonly text: string;
}

export interface TextChange {
  readonly before: string;
  readonly after: string;
}

export type IndexedMemory = Pick<MemoryRow, 'id' | 'text' | 'workspace'>;

/** For an engine whose commits wait for the disk. */
export function writeAheadOf(write: SqlEngine['write']): SqlEngine['writeAhead'] {
  return async (unit) => ({ result: await write(unit), durable: Promise.resolve() });
}

/** A placeholder for a value that is given when the query runs. */
export type Parameter<Values> = <Name extends keyof Values & (string | number)>(name: Name) => RawBuilder<Values[Name]>;

/** Builds a query once; each call only fills in the values. Building costs more than running a small query. */
export function prepare<Values, Row>(
  build: (parameter: Parameter<Values>) => Compilable<Row>,
): (values: Values) => Statement<Row> {
  const names = new Map<object, keyof Values>();
  const compiled = build((name) => {
    const slot = { slot: name };
    names.set(slot, name);
    return sql`${slot}`;
  }).compile();
  const slots = compiled.parameters.map((parameter) => ({
    name: typeof parameter === 'object' && parameter !== null ? names.get(parameter) : undefined,
    parameter,
  }));
  const { sql: text, query, queryId } = compiled;
  return (values) => ({
    sql: text,
    query,
    queryId,
    parameters: slots.map(({ name, parameter }) => (name === undefined ? parameter : values[name])),
  });
}

/** The first row, or null. */
export async function first<Row>(transaction: Transaction, statement: Statement<Row>): Promise<Row | null> {
  const [row] = await transaction.rows(statement);
  return row ?? null;
}

/** Sends independent statements at once. If one fails, the call rejects after all have ended. */
export async function together<Values extends readonly unknown[]>(
  work: {
    readonly [Index in keyof Values]: Promise<Values[Index]>;
  },
): Promise<Values> {
  try {
    return await Promise.all(work);
  } catch (error) {
    await Promise.allSettled(work);
    throw error;
  }
}
