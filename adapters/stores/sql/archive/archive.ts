import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import {
  type Archive,
  type ArchiveHeader,
  type ArchiveRow,
  type ArchiveSink,
  describe,
  faultText,
  StrataError,
} from '../../../../src/adapter-kit.ts';
import { HEARD, NOTE_HEARD } from '../migrations/heard.ts';
import { coreMigrationNames } from '../migrations/migrations.ts';
import { DATE_USAGE, USAGE_BY_DAY } from '../migrations/usage-table.ts';
import { first, type SqlEngine, type Statement, type Transaction } from '../query/engine.ts';
import { pagesOfTable } from '../query/table-pages.ts';
import { CONVERSATION_STATE, MOVE_CONVERSATION_STATE } from '../rows/conversation-state.ts';
import type { Tables } from '../schema/tables.ts';
import { indexArchived } from './archive-index.ts';

/** Every table with its sort columns, each after those that it refers to. */
const TABLES: { readonly [Name in keyof Tables]: readonly (keyof Tables[Name] & string)[] } = {
  conversation: ['id'],
  entry: ['conversation_id', 'seq'],
  summary: ['id'],
  ready_summary: ['conversation_id', 'level', 'from_seq'],
  memory: ['id'],
  memory_source: ['memory_id', 'conversation_id', 'seq'],
  memory_event: ['id'],
  memory_reading: ['memory_id', 'conversation_id'],
  tombstone: ['place', 'fingerprint'],
  held: ['id'],
  outbox: ['id'],
  blob: ['id'],
  usage: ['conversation_id', 'day', 'agent_id', 'person', 'purpose', 'model'],
  cache_loss: ['conversation_id', 'day', 'cause'],
  last_request: ['conversation_id'],
  request_part: ['hash'],
  request_link: ['conversation_id', 'hash'],
  maintenance_run: ['id'],
  state: ['namespace', 'key'],
  conversation_state: ['conversation_id', 'name'],
};
const NAMES = Object.keys(TABLES);
/** Rows per statement. */
const BATCH = 200;

/**
 * Converts the whole store to and from plain rows, which are the same on every engine. Indexes are left out and
 * rebuilt.
 */
export function createArchive(engine: SqlEngine, place: string) {
  return {
    dump: (sink: ArchiveSink): Promise<void> => engine.read((transaction) => dump(engine, transaction, sink)),
    load: (archive: Archive): Promise<void> =>
      engine.write((transaction) => load(engine, transaction, { archive, place })),
  };
}

async function dump(engine: SqlEngine, transaction: Transaction, sink: ArchiveSink): Promise<void> {
  await sink.begin({ migrations: coreMigrationNames(), counts: await countAll(engine, transaction) });
  for (const [table, key] of Object.entries(TABLES)) {
    for await (const rows of pagesOfTable(engine.query, transaction, { table, key })) await sink.rows(table, rows);
  }
}

async function countAll(engine: SqlEngine, transaction: Transaction): Promise<ArchiveHeader['counts']> {
  const counts: [string, number][] = [];
  for (const table of NAMES) {
    const count = compile<{ rows: number }>(engine, sql`select count(*) as rows from ${sql.table(table)}`);
    counts.push([table, (await first(transaction, count))?.rows ?? 0]);
  }
  return Object.fromEntries(counts);
}

function compile<Row>({ query }: SqlEngine, text: RawBuilder<unknown>): Statement<Row> {
  return text.$castTo<Row>().compile(query);
}

async function load(
  engine: SqlEngine,
  transaction: Transaction,
  { archive, place }: { readonly archive: Archive; readonly place: string },
): Promise<void> {
  const { migrations, counts } = archive.header;
  const unknown = migrations.find((name) => !coreMigrationNames().includes(name));
  if (unknown !== undefined)
    throw invalid(archive, `it was written by a newer Strata (migration ${unknown} is unknown here)`);
  const present = await countAll(engine, transaction);
  if (Object.values(present).some((rows) => rows > 0)) throw new StrataError('STORE_NOT_EMPTY', { path: place });
  await insertAll(engine, transaction, archive);
  // Archives of older versions lack these.
  if (!migrations.includes(HEARD)) await transaction.run(compile(engine, NOTE_HEARD));
  if (!migrations.includes(USAGE_BY_DAY)) await transaction.run(compile(engine, DATE_USAGE));
  for (const table of ['conversation', 'memory_event', 'outbox'] as const) await engine.numberOn(transaction, table);
  const found = await countAll(engine, transaction);
  for (const [table, rows] of Object.entries(counts)) {
    if (found[table] !== rows)
      throw invalid(archive, `it should hold ${rows} rows of ${table}, but holds ${found[table] ?? 0}`);
  }
  const isOld = !migrations.includes(CONVERSATION_STATE);
  for (const statement of isOld ? MOVE_CONVERSATION_STATE : []) await transaction.run(compile(engine, statement));
}

async function insertAll(engine: SqlEngine, transaction: Transaction, archive: Archive): Promise<void> {
  let batch: { readonly table: string; readonly rows: ArchiveRow[] } = { table: '', rows: [] };
  const flush = async () => {
    if (batch.rows.length > 0) await insert(engine, transaction, { archive, ...batch });
  };
  for await (const { table, row } of archive.records()) {
    if (!NAMES.includes(table)) throw invalid(archive, `there is no table ${table}`);
    if (batch.table !== table || batch.rows.length === BATCH) {
      await flush();
      batch = { table, rows: [] };
    }
    batch.rows.push(row);
  }
  await flush();
}

async function insert(
  engine: SqlEngine,
  transaction: Transaction,
  { archive, table, rows }: { readonly archive: Archive; readonly table: string; readonly rows: readonly ArchiveRow[] },
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const statement = sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`;
  try {
    await transaction.run(compile(engine, statement));
  } catch (error) {
    if (error instanceof StrataError) throw error;
    throw invalid(archive, `the rows of ${table} do not fit (${describe(error)})`, error);
  }
  await indexArchived(engine, transaction, { table, rows }).catch((error: unknown) => {
    const problem = unreadable(error);
    throw problem === null ? error : invalid(archive, `a row of ${table} cannot be read (${problem})`, error);
  });
}

/** Null for other failures, such as one of the store. An error of `JSON.parse` would quote a message. */
function unreadable(error: unknown): string | null {
  if (error instanceof SyntaxError) return 'it is not JSON';
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  return issue === undefined ? null : faultText(issue);
}

function invalid({ name }: Archive, problem: string, cause?: unknown): StrataError {
  return new StrataError('BACKUP_INVALID', { file: name, line: null, problem }, { cause });
}
