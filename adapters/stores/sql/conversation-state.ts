import type { Kysely } from 'kysely';
import type { ConversationState } from '../../../src/adapter-kit.ts';
import { ofConversation, required } from './columns.ts';
import { first } from './engine.ts';
import { readJson, writeJson } from './json.ts';
import type { Shared } from './shared.ts';

/** In a table of its own, whose rows the database deletes with their conversation. */
export function createConversationState(
  { engine, conversations }: Pick<Shared, 'engine' | 'conversations'>,
  conversationId: number,
): ConversationState {
  const { query } = engine;
  return {
    get: (name) =>
      engine.read(async (tx) => {
        const own = query.selectFrom('conversation_state').select('value').where('name', '=', name);
        const row = await first(tx, own.where('conversation_id', '=', conversationId).compile());
        return row === null ? undefined : readJson(row.value);
      }),
    set: (name, value) =>
      engine.write(async (tx) => {
        if ((await conversations.lock(tx, conversationId)) === null) return;
        const row = { conversation_id: conversationId, name, value: writeJson(value) };
        const insertion = query.insertInto('conversation_state').values(row);
        const upsert = insertion.onConflict((conflict) =>
          conflict.columns(['conversation_id', 'name']).doUpdateSet({ value: row.value }),
        );
        await tx.run(upsert.compile());
      }),
    async delete(name) {
      const own = query.deleteFrom('conversation_state').where('name', '=', name);
      await engine.write((tx) => tx.run(own.where('conversation_id', '=', conversationId).compile()));
    },
  };
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

/** Where such values were before. Nothing can tell which of them belong to conversations that are gone. */
const FORMER = ['answered-by', 'last-failure', 'setback', 'spend', 'summary-rewrite'];

export async function createConversationStateTable(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('conversation_state')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('name', 'text', required)
    .addColumn('value', 'text', required)
    .addPrimaryKeyConstraint('conversation_state_key', ['conversation_id', 'name'])
    .execute();
  const state = (database as Kysely<{ state: { namespace: string } }>).deleteFrom('state');
  await state.where('namespace', 'in', FORMER).execute();
}
