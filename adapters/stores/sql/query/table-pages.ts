import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import type { ArchiveRow } from '../../../../src/adapter-kit.ts';
import type { Tables } from '../schema/tables.ts';
import type { Statement, Transaction } from './engine.ts';

/** Rows per statement. */
const PAGE = 200;

export interface SortedTable {
  readonly table: string;
  /** The sort columns, which together are unique. */
  readonly key: readonly string[];
}

/** All rows of a table in pages. No page is empty. */
export async function* pagesOfTable(
  query: Kysely<Tables>,
  transaction: Transaction,
  sorted: SortedTable,
): AsyncGenerator<readonly ArchiveRow[], void, undefined> {
  let after: ArchiveRow | null = null;
  do {
    const rows: readonly ArchiveRow[] = await transaction.rows(page(query, sorted, after));
    if (rows.length > 0) yield rows;
    after = rows.length < PAGE ? null : (rows.at(-1) ?? null);
  } while (after !== null);
}

function page(query: Kysely<Tables>, { table, key }: SortedTable, after: ArchiveRow | null): Statement<ArchiveRow> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const rest: Expression<SqlBool> =
    after === null ? sql`1 = 1` : sql`(${columns}) > (${sql.join(key.map((column) => after[column]))})`;
  return sql<ArchiveRow>`
    select * from ${sql.table(table)} where ${rest} order by ${columns} limit ${sql.lit(PAGE)}`.compile(query);
}
