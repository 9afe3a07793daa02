import type { UsageRow, UsageTotal } from '../../../src/adapter-kit.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from './engine.ts';

/** What the model calls of a conversation cost, summed by purpose and model. */
export interface UsageRows {
  add(transaction: Transaction, conversationId: number, rows: readonly UsageRow[]): Promise<void>;
  totals(transaction: Transaction, conversationId: number): Promise<readonly UsageTotal[]>;
}

type UsageValues = UsageRow & { readonly conversationId: number };

export function createUsage({ query }: SqlEngine): UsageRows {
  const add = prepare((p: Parameter<UsageValues>) =>
    query
      .insertInto('usage')
      .values({
        conversation_id: p('conversationId'),
        purpose: p('purpose'),
        model: p('model'),
        calls: 1,
        input_tokens: p('inputTokens'),
        output_tokens: p('outputTokens'),
        cache_read_tokens: p('cacheReadTokens'),
        cache_write_tokens: p('cacheWriteTokens'),
        last_at: p('at'),
      })
      .onConflict((conflict) =>
        conflict.columns(['conversation_id', 'purpose', 'model']).doUpdateSet((update) => ({
          calls: update('usage.calls', '+', 1),
          input_tokens: update('usage.input_tokens', '+', update.ref('excluded.input_tokens')),
          output_tokens: update('usage.output_tokens', '+', update.ref('excluded.output_tokens')),
          cache_read_tokens: update('usage.cache_read_tokens', '+', update.ref('excluded.cache_read_tokens')),
          cache_write_tokens: update('usage.cache_write_tokens', '+', update.ref('excluded.cache_write_tokens')),
          last_at: update.ref('excluded.last_at'),
        })),
      ),
  );
  return {
    async add(transaction, conversationId, rows) {
      for (const row of rows) await transaction.run(add({ ...row, conversationId }));
    },
    totals: (transaction, conversationId) =>
      transaction.rows(
        query
          .selectFrom('usage')
          .select(['purpose', 'model', 'calls', 'input_tokens as inputTokens', 'output_tokens as outputTokens'])
          .select(['cache_read_tokens as cacheReadTokens', 'cache_write_tokens as cacheWriteTokens'])
          .where('conversation_id', '=', conversationId)
          .orderBy('purpose')
          .orderBy('model')
          .compile(),
      ),
  };
}
