import { type Kysely, sql } from 'kysely';
import type { CacheLog, CacheLoss, SpendingQuery } from '../../../../src/adapter-kit.ts';
import { first, type Parameter, prepare, type SqlEngine } from '../query/engine.ts';
import type { Shared } from '../rows/shared.ts';
import { dayOf, ofConversation, required } from '../schema/columns.ts';

/** Losses of the prefix cache by day and cause, and the print of each conversation's newest request. */
export function createCacheLog({ engine, conversations }: Pick<Shared, 'engine' | 'conversations'>): CacheLog {
  const statements = prepareStatements(engine.query);
  return {
    note: (conversationId, { print, losses, at, revision }) =>
      engine.write(async (tx) => {
        const row = await conversations.lock(tx, conversationId);
        if (row === null) return;
        const day = dayOf(at);
        for (const loss of losses) await tx.run(statements.add({ conversationId, day, ...loss }));
        if (row.changed_revision <= revision) await tx.run(statements.keep({ conversationId, print }));
      }),
    lastRequest: (conversationId) =>
      engine.read(async (tx) => (await first(tx, statements.find({ conversationId })))?.print ?? null),
    losses: (asked) => engine.read((tx) => tx.rows(totals(engine, asked).compile())),
  };
}

function totals({ query }: SqlEngine, { since, conversationId }: Pick<SpendingQuery, 'since' | 'conversationId'>) {
  return query
    .selectFrom('cache_loss')
    .select('cause')
    .select([
      sql<number>`cast(sum(losses) as bigint)`.as('losses'),
      sql<number>`cast(sum(tokens) as bigint)`.as('tokens'),
    ])
    .$if(since !== null, (select) => select.where('day', '>=', dayOf(since ?? 0)))
    .$if(conversationId !== null, (select) => select.where('conversation_id', '=', conversationId ?? 0))
    .groupBy('cause')
    .orderBy('tokens', 'desc')
    .orderBy('cause');
}

type Loss = CacheLoss & { readonly conversationId: number; readonly day: number };

function prepareStatements(query: SqlEngine['query']) {
  return {
    add: prepare((p: Parameter<Loss>) =>
      query
        .insertInto('cache_loss')
        .values({
          conversation_id: p('conversationId'),
          day: p('day'),
          cause: p('cause'),
          losses: sql.lit(1),
          tokens: p('tokens'),
        })
        .onConflict((conflict) =>
          conflict.columns(['conversation_id', 'day', 'cause']).doUpdateSet({
            losses: sql<number>`cache_loss.losses + 1`,
            tokens: sql<number>`cache_loss.tokens + excluded.tokens`,
          }),
        ),
    ),
    keep: prepare((p: Parameter<{ conversationId: number; print: string }>) =>
      query
        .insertInto('last_request')
        .values({ conversation_id: p('conversationId'), print: p('print') })
        .onConflict((conflict) =>
          conflict.column('conversation_id').doUpdateSet({ print: sql<string>`excluded.print` }),
        ),
    ),
    find: prepare((p: Parameter<{ conversationId: number }>) =>
      query.selectFrom('last_request').select('print').where('conversation_id', '=', p('conversationId')),
    ),
  };
}

export async function createCacheTables(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('cache_loss')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('day', 'bigint', required)
    .addColumn('cause', 'text', required)
    .addColumn('losses', 'bigint', required)
    .addColumn('tokens', 'bigint', required)
    .addPrimaryKeyConstraint('cache_loss_key', ['conversation_id', 'day', 'cause'])
    .execute();
  await database.schema
    .createTable('last_request')
    .addColumn('conversation_id', 'bigint', (column) =>
      column.primaryKey().references('conversation.id').onDelete('cascade'),
    )
    .addColumn('print', 'text', required)
    .execute();
}
