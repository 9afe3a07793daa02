import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import { required } from './columns.ts';
import type { Tables } from './tables.ts';

/** An archive does not contain it: a store that is filled from one keeps its own. */
interface IdentityTable {
  /** Always 1. */
  one: number;
  id: string;
}

export async function createIdentityTable(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('identity')
    .addColumn('one', 'bigint', (column) => column.primaryKey())
    .addColumn('id', 'text', required)
    .execute();
}

const BYTES = 8;

/** The id of the store: the same for all processes, however many open a new store at once. */
export async function identityOf(query: Kysely<Tables>): Promise<string> {
  const database = query.withTables<{ identity: IdentityTable }>();
  const read = async () => (await database.selectFrom('identity').select('id').executeTakeFirst())?.id;
  const known = await read();
  if (known !== undefined) return known;
  const id = randomBytes(BYTES).toString('hex');
  const insertion = database.insertInto('identity').values({ one: 1, id });
  await insertion.onConflict((conflict) => conflict.doNothing()).execute();
  return (await read()) ?? id;
}
