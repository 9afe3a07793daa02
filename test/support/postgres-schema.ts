import { Client } from 'pg';

/** An empty schema in the database: a store opened with its URL sees nothing else. */
export interface TestSchema {
  readonly url: string;
  ask(statement: string): Promise<readonly Record<string, unknown>[]>;
  dispose(): Promise<void>;
}

let made = 0;

export async function createSchema(database: string): Promise<TestSchema> {
  const name = `strata_test_${process.pid}_${++made}`;
  await ask(database, `create schema ${name}`);
  const url = new URL(database);
  url.searchParams.set('options', `-c search_path=${name}`);
  return {
    url: url.href.replaceAll('+', '%20'),
    ask: (statement) => ask(url.href.replaceAll('+', '%20'), statement),
    dispose: async () => void (await ask(database, `drop schema ${name} cascade`)),
  };
}

/** Removes all rows, and counts ids from 1 again. The record of migrations stays. */
export const EMPTY = `do $$ begin
  execute (
    select 'truncate ' || string_agg(quote_ident(tablename), ', ') || ' restart identity cascade'
    from pg_tables where schemaname = current_schema() and tablename not like 'kysely%'
  );
end $$`;

/** Schemas that are emptied and reused, because creating the tables takes longer than most tests. */
export interface SchemaPool extends AsyncDisposable {
  lend(): Promise<TestSchema>;
}

export function createSchemaPool(database: () => string): SchemaPool {
  const free: TestSchema[] = [];
  return {
    async lend() {
      const schema = free.pop() ?? (await createSchema(database()));
      const dispose = async () => {
        await schema.ask(EMPTY);
        free.push(schema);
      };
      return { ...schema, dispose };
    },
    async [Symbol.asyncDispose]() {
      for (const schema of free.splice(0)) await schema.dispose();
    },
  };
}

export async function ask(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
