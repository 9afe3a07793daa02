import type { Kysely } from 'kysely';
import type { NewSummary, Summary } from '../../../../src/adapter-kit.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { readLost, writeJson } from '../query/json.ts';
import { ofConversation, required } from '../schema/columns.ts';
import type { ReadySummaryRow } from '../schema/tables.ts';

/** Summaries that are not part of the stack yet. They have no search index. */
export interface ReadyRows {
  list(transaction: Transaction, conversationId: number): Promise<readonly Summary[]>;
  insert(transaction: Transaction, conversationId: number, summary: NewSummary): Promise<void>;
  /** Deletes all of the conversation. Returns how many there were. */
  clear(transaction: Transaction, conversationId: number): Promise<number>;
}

export function createReadyRows({ query }: SqlEngine): ReadyRows {
  const all = prepare((p: Parameter<{ conversationId: number }>) =>
    query
      .selectFrom('ready_summary')
      .selectAll()
      .where('conversation_id', '=', p('conversationId'))
      .orderBy('level')
      .orderBy('from_seq'),
  );
  const remove = prepare((p: Parameter<{ conversationId: number }>) =>
    query.deleteFrom('ready_summary').where('conversation_id', '=', p('conversationId')),
  );
  return {
    async list(transaction, conversationId) {
      return (await transaction.rows(all({ conversationId }))).map(toReady);
    },
    async insert(transaction, conversationId, summary) {
      const { id, level, fromSeq, toSeq, text, tokens, model, promptHash, createdAt } = summary;
      const row = { conversation_id: conversationId, id, level, from_seq: fromSeq, to_seq: toSeq, text, tokens, model };
      const lost = summary.lost === undefined ? null : writeJson(summary.lost);
      const values = { ...row, prompt_hash: promptHash, created_at: createdAt, lost };
      const insertion = query.insertInto('ready_summary').values(values);
      await transaction.run(
        insertion
          .onConflict((conflict) => conflict.columns(['conversation_id', 'level', 'from_seq']).doUpdateSet(values))
          .compile(),
      );
    },
    clear: (transaction, conversationId) => transaction.run(remove({ conversationId })),
  };
}

function toReady(row: ReadySummaryRow): Summary {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    level: row.level,
    kind: 'summary',
    fromSeq: row.from_seq,
    toSeq: row.to_seq,
    text: row.text,
    tokens: row.tokens,
    model: row.model,
    promptHash: row.prompt_hash,
    stale: false,
    supersededBy: null,
    createdAt: row.created_at,
    lost: readLost(row.lost),
  };
}

export async function createReadyTable(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('ready_summary')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('level', 'bigint', required)
    .addColumn('from_seq', 'bigint', required)
    .addColumn('to_seq', 'bigint', required)
    .addColumn('id', 'text', required)
    .addColumn('text', 'text', required)
    .addColumn('tokens', 'bigint', required)
    .addColumn('model', 'text')
    .addColumn('prompt_hash', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('lost', 'text')
    .addPrimaryKeyConstraint('ready_summary_key', ['conversation_id', 'level', 'from_seq'])
    .execute();
}
