import Database from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { createDialect } from '../../../adapters/stores/sqlite/dialect.ts';

interface Tables {
  readonly word: { readonly text: string; readonly length: number };
}

const database = new Database(':memory:');
const query = new Kysely<Tables>({ dialect: createDialect(database) });

it('shows SQLite no value to plan a statement for', () => {
  const some = query.selectFrom('word').selectAll().where('length', '=', 3).orderBy('text').limit(2);
  const { sql: text, parameters } = some.compile();
  expect(text.match(/.\?/g)).toEqual(['+?', '+?']);
  expect(parameters).toEqual([3, 2]);
});

it.each([['sea'], [7], [-0.5], [2n ** 60n], [null], [Buffer.from([0, 1])]])('hands over %s as it is', async (value) => {
  const { rows } = await sql<{ readonly value: unknown; readonly kind: string }>`
    select ${value} as value, typeof(${value}) as kind`.execute(query);
  const plain = database.prepare('select ? as value, typeof(?) as kind').get(value, value);
  expect(rows).toEqual([plain]);
});
