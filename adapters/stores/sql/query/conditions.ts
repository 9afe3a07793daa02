import { type RawBuilder, sql } from 'kysely';

/** A literal, because the partial index of pending posts cannot be used with a parameter. */
export const PENDING = sql.lit('pending' as const);

/** The column begins with the text. Matches no index, so that the sort order determines the index. */
export function beginsWith(column: string, beginning: string): RawBuilder<boolean> {
  return sql<boolean>`substr(${sql.ref(column)}, 1, ${sql.lit(beginning.length)}) = ${beginning}`;
}
