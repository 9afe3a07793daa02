import { type Dialect, SqliteDialect, type SqliteDialectConfig, SqliteQueryCompiler } from 'kysely';

/** Kysely's dialect, whose statements SQLite parses and plans once. */
export function createDialect(database: NonNullable<SqliteDialectConfig['database']>): Dialect {
  const dialect = new SqliteDialect({ database });
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => new Compiler(),
  };
}

class Compiler extends SqliteQueryCompiler {
  /**
   * `+` has no effect on a value. Without it, SQLite plans each statement that sorts or has a limit for the values at
   * hand, and again for the next ones (`sqlite3VdbeSetVarmask` in vdbeapi.c), which takes longer than running most.
   */
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}
