import { type Compilable, type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type { MemoryReader } from '../../../src/adapter-kit.ts';
import type { MemoryRow, Tables } from './tables.ts';

/** A compiled query, with its parameters filled in. `Row` is what Kysely's types say that it yields. */
export type Statement<Row = unknown> = CompiledQuery<Row>;

/** One open transaction. Statements run in the order in which they are given, whether or not each is waited for. */
export interface Transaction {
  rows<Row>(statement: Statement<Row>): Promise<readonly Row[]>;
  /** Returns how many rows were changed. */
  run(statement: Statement): Promise<number>;
}

export type Unit<Result> = (transaction: Transaction) => Promise<Result>;

/** What the tables need of a database. All else in this folder is the same on every engine. */
export interface SqlEngine {
  /** Builds and compiles; running goes through the units. */
  readonly query: Kysely<Tables>;
  /** For messages about what should not happen. */
  readonly name: string;
  /** One snapshot. */
  read<Result>(unit: Unit<Result>): Promise<Result>;
  /**
   * One transaction, durable when it resolves. A unit may be run a second time from a clean state, so all its effects go
   * through the transaction.
   */
  write<Result>(unit: Unit<Result>): Promise<Result>;
  /** True where units run side by side: a transaction must lock the rows that it reads in order to change them. */
  readonly rowLocks: boolean;
  /** From here to the end of the transaction nobody else decides from the memories, which are looked up by many keys. */
  lockMemories(transaction: Transaction): Promise<void>;
  /** Rows were inserted with their numbers: the engine's own go on after them. */
  numberOn(transaction: Transaction, table: 'conversation' | 'memory_event' | 'outbox'): Promise<void>;
  /**
   * All active memories that the reader may read, in any order. Null where they are many, or where an engine rather
   * answers each question by itself.
   */
  activeMemories(transaction: Transaction, reader: MemoryReader): Promise<readonly MemoryRow[] | null>;
  readonly index: EngineIndex;
  /**
   * Text was deleted for good: nothing of it may stay in the engine's files. Called after the transaction. Returns what
   * still holds it, as one sentence, while the engine goes on trying; null when nothing does.
   */
  scrub(): Promise<string | null>;
  /** Part of every transaction that deletes text: after a crash the next start scrubs what it left. */
  noteDeletion(transaction: Transaction): Promise<void>;
  close(): Promise<void>;
}

/** Keeps a full-text index in the transaction that changes the text. `before` is what was indexed, empty for nothing. */
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
  /** Of a new entry. An engine may index it later, but before any search that covers it. */
  added(transaction: Transaction, entry: IndexedEntry): Promise<void>;
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

/** Stands for a value that is given when the query is run. */
export type Parameter<Values> = <Name extends keyof Values & string>(name: Name) => RawBuilder<Values[Name]>;

/** Builds a query once; each call only fills in the values. Building costs more than running a small query does. */
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
  return (values) => ({
    ...compiled,
    parameters: slots.map(({ name, parameter }) => (name === undefined ? parameter : values[name])),
  });
}

/** The first row, or null. */
export async function first<Row>(transaction: Transaction, statement: Statement<Row>): Promise<Row | null> {
  const [row] = await transaction.rows(statement);
  return row ?? null;
}

/** Sends statements that do not need each other's answers at once. If one fails, the call rejects after all have ended. */
export async function together<Values extends readonly unknown[]>(
  work: {
    readonly [Index in keyof Values]: Promise<Values[Index]>;
  },
): Promise<Values> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
