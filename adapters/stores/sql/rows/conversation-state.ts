import { type Expression, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ConversationState } from '../../../../src/adapter-kit.ts';
import { first, type SqlEngine, type Transaction } from '../query/engine.ts';
import { readJson, writeJson } from '../query/json.ts';
import { ofConversation, required, zero } from '../schema/columns.ts';
import type { ConversationRows } from './conversation-rows.ts';

/** Keeps the values in a table of their own, whose rows the database deletes with their conversation. */
export function createConversationState(
  { engine, conversations }: { readonly engine: SqlEngine; readonly conversations: ConversationRows },
  conversationId: number,
): ConversationState {
  const { query } = engine;
  const read = async (tx: Transaction, name: string) => {
    const own = query.selectFrom('conversation_state').select('value').where('name', '=', name);
    return (await first(tx, own.where('conversation_id', '=', conversationId).compile()))?.value;
  };
  const mayStore = async (tx: Transaction, options: Quoting | undefined) => {
    const row = await conversations.lock(tx, conversationId);
    return row !== null && (options === undefined || row.changed_revision <= options.quotes);
  };
  const write = async (tx: Transaction, { name, value }: { name: string; value: string }, options?: Quoting) => {
    const changed = { value, may_quote: options === undefined ? 0 : 1 };
    const insertion = query
      .insertInto('conversation_state')
      .values({ conversation_id: conversationId, name, ...changed });
    const upsert = insertion.onConflict((conflict) =>
      conflict.columns(['conversation_id', 'name']).doUpdateSet(changed),
    );
    await tx.run(upsert.compile());
  };
  const remove = async (tx: Transaction, name: string) => {
    const own = query.deleteFrom('conversation_state').where('name', '=', name);
    await tx.run(own.where('conversation_id', '=', conversationId).compile());
  };
  return {
    get: (name) =>
      engine.read(async (tx) => {
        const value = await read(tx, name);
        return value === undefined ? undefined : readJson(value);
      }),
    set: (name, value, options) =>
      engine.write(async (tx) => {
        if (await mayStore(tx, options)) await write(tx, { name, value: writeJson(value) }, options);
      }),
    swap: (name, { from, to }, options) =>
      engine.write(async (tx) => {
        if (!(await mayStore(tx, options))) return false;
        if ((await read(tx, name)) !== (from === undefined ? undefined : writeJson(from))) return false;
        if (to === undefined) await remove(tx, name);
        else await write(tx, { name, value: writeJson(to) }, options);
        return true;
      }),
    delete: (name) => engine.write((tx) => remove(tx, name)),
  };
}

interface Quoting {
  /** The revision of the conversation whose messages the value may quote. */
  readonly quotes: number;
}

export async function createStateTable(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('state')
    .addColumn('namespace', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('value', 'text', required)
    .addPrimaryKeyConstraint('state_key', ['namespace', 'key'])
    .execute();
}

export const CONVERSATION_STATE = '0016_conversation_state';

/** The namespaces in which older versions kept such values, under the number of a conversation that may be gone. */
const FORMER = sql`('answered-by', 'last-failure', 'setback', 'spend', 'summary-rewrite')`;

/** Statements that move what an older version has written. */
export const MOVE_CONVERSATION_STATE = [
  sql`
  insert into conversation_state (conversation_id, name, value, may_quote)
  select conversation.id, state.namespace, state.value, case when state.namespace in ('answered-by', 'spend') then 0 else 1 end
  from state join conversation on state.key = cast(conversation.id as text) where state.namespace in ${FORMER}`,
  sql`delete from state where namespace in ${FORMER}`,
];

async function createConversationStateTable(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('conversation_state')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('name', 'text', required)
    .addColumn('value', 'text', required)
    .addColumn('may_quote', 'bigint', zero)
    .addPrimaryKeyConstraint('conversation_state_key', ['conversation_id', 'name'])
    .execute();
  for (const statement of MOVE_CONVERSATION_STATE) await statement.execute(database);
}

export const CONVERSATION_STATE_MIGRATIONS: Record<string, Migration> = {
  [CONVERSATION_STATE]: { up: createConversationStateTable },
  '0017_changed_revision': {
    up: (database: Kysely<unknown>) =>
      database.schema.alterTable('conversation').addColumn('changed_revision', 'bigint', zero).execute(),
  },
};

/**
 * Deletes what may quote messages of these conversations: errors of providers, wishes of people, hashes of what was
 * sent. Runs without an error stay.
 */
export async function removeQuotes(
  { query }: Pick<SqlEngine, 'query'>,
  transaction: Transaction,
  ids: readonly number[] | Expression<number>,
): Promise<void> {
  const values = query.deleteFrom('conversation_state').where('conversation_id', 'in', ids);
  await transaction.run(values.where('may_quote', '=', 1).compile());
  const runs = query.deleteFrom('maintenance_run').where('conversation_id', 'in', ids);
  await transaction.run(runs.where('run', 'not like', '%"error":null%').compile());
  await transaction.run(query.deleteFrom('last_request').where('conversation_id', 'in', ids).compile());
}
