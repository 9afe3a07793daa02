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

/**
 * Removes all rows, and counts ids from 1 again. The record of migrations stays. Most tables are empty: to truncate them
 * all takes longer than most tests.
 */
export const EMPTY = `do $$
declare
  named record;
  is_used boolean;
begin
  for named in
    select tablename from pg_tables where schemaname = current_schema() and tablename not like 'kysely%'
  loop
    execute format('select exists (select from %I)', named.tablename) into is_used;
    if is_used then execute format('delete from %I', named.tablename); end if;
  end loop;
  for named in
    select sequencename from pg_sequences where schemaname = current_schema() and last_value is not null
  loop
    execute format('alter sequence %I restart', named.sequencename);
  end loop;
end $$`;

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
