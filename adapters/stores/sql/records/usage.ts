import { sql } from 'kysely';
import {
  DAY_MS,
  type Spending,
  type SpendingKey,
  type SpendingQuery,
  type Spent,
  type UsageRow,
  type UsageTotal,
} from '../../../../src/adapter-kit.ts';
import { beginsWith } from '../query/conditions.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { isKept } from '../rows/conversation-rows.ts';
import { dayOf } from '../schema/columns.ts';

/** Usage of a conversation's model calls, summed by day, agent, person, purpose and model. */
export interface UsageRows {
  add(transaction: Transaction, conversationId: number, rows: readonly UsageRow[]): Promise<void>;
  totals(transaction: Transaction, conversationId: number): Promise<readonly UsageTotal[]>;
  spending(transaction: Transaction, query: SpendingQuery): Promise<readonly Spending[]>;
}

/** Costs are stored as whole numbers, because sums of fractions depend on their order. */
const NANOS_PER_DOLLAR = 1e9;
/** Columns are never null, because they are part of the key. */
const NOBODY = '';

export function createUsage({ query }: SqlEngine): UsageRows {
  const add = prepareAdd(query);
  return {
    async add(transaction, conversationId, rows) {
      for (const sum of sumUp(rows)) await transaction.run(add({ ...sum, conversationId }));
    },
    async totals(transaction, conversationId) {
      const own = query.selectFrom('usage').select(['purpose', 'model']).select(SUMS);
      const rows = await transaction.rows(
        own.where('conversation_id', '=', conversationId).groupBy(['purpose', 'model']).compile(),
      );
      const totals = rows.map(({ purpose, model, ...sums }) => ({ purpose, model, ...toSpent(sums) }));
      return totals.sort((a, b) => order(a.purpose, b.purpose) || order(a.model, b.model));
    },
    spending: async (transaction, asked) => {
      const rows = await transaction.rows(spendingQuery(query, asked).compile());
      return rows.map(({ key, ...sums }) => ({ key: toKey(asked.by, key), ...toSpent(sums) }));
    },
  };
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The values that all calls of one turn share. */
interface UsageSum extends Spent {
  readonly day: number;
  readonly agentId: string;
  readonly person: string;
  readonly purpose: UsageRow['purpose'];
  readonly model: string;
  readonly costNanos: number;
  readonly at: number;
}

function sumUp(rows: readonly UsageRow[]): readonly UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const { purpose, model, agentId, at } = row;
    const day = dayOf(at);
    const person = row.person ?? NOBODY;
    const key = JSON.stringify([day, agentId, person, purpose, model]);
    const known = sums.get(key);
    const costUsd = (known?.costUsd ?? 0) + (row.costUsd ?? 0);
    sums.set(key, {
      day,
      agentId,
      person,
      purpose,
      model,
      at,
      costUsd,
      costNanos: Math.round(costUsd * NANOS_PER_DOLLAR),
      calls: (known?.calls ?? 0) + 1,
      unpricedCalls: (known?.unpricedCalls ?? 0) + (row.costUsd === null ? 1 : 0),
      inputTokens: (known?.inputTokens ?? 0) + row.inputTokens,
      outputTokens: (known?.outputTokens ?? 0) + row.outputTokens,
      cacheReadTokens: (known?.cacheReadTokens ?? 0) + row.cacheReadTokens,
      cacheWriteTokens: (known?.cacheWriteTokens ?? 0) + row.cacheWriteTokens,
      reasoningTokens: (known?.reasoningTokens ?? 0) + row.reasoningTokens,
    });
  }
  return [...sums.values()];
}

type UsageValues = UsageSum & { readonly conversationId: number };

const KEY = ['conversation_id', 'day', 'agent_id', 'person', 'purpose', 'model'] as const;
const SUMMED = [
  'calls',
  'unpriced_calls',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost_nanos',
] as const;

function prepareAdd(query: SqlEngine['query']) {
  return prepare((p: Parameter<UsageValues>) =>
    query
      .insertInto('usage')
      .values({
        conversation_id: p('conversationId'),
        day: p('day'),
        agent_id: p('agentId'),
        person: p('person'),
        purpose: p('purpose'),
        model: p('model'),
        calls: p('calls'),
        unpriced_calls: p('unpricedCalls'),
        input_tokens: p('inputTokens'),
        output_tokens: p('outputTokens'),
        cache_read_tokens: p('cacheReadTokens'),
        cache_write_tokens: p('cacheWriteTokens'),
        reasoning_tokens: p('reasoningTokens'),
        cost_nanos: p('costNanos'),
        last_at: p('at'),
      })
      .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(addToSums)),
  );
}

const added = Object.fromEntries(
  SUMMED.map((column) => [column, sql<number>`${sql.ref(`usage.${column}`)} + ${sql.ref(`excluded.${column}`)}`]),
);
const addToSums = { ...added, last_at: sql<number>`excluded.last_at` };

const sumOf = (column: (typeof SUMMED)[number]) => sql<number>`cast(sum(${sql.ref(`usage.${column}`)}) as bigint)`;
const SUMS = [
  sumOf('calls').as('calls'),
  sumOf('unpriced_calls').as('unpricedCalls'),
  sumOf('input_tokens').as('inputTokens'),
  sumOf('output_tokens').as('outputTokens'),
  sumOf('cache_read_tokens').as('cacheReadTokens'),
  sumOf('cache_write_tokens').as('cacheWriteTokens'),
  sumOf('reasoning_tokens').as('reasoningTokens'),
  sumOf('cost_nanos').as('costNanos'),
] as const;

function toSpent({ costNanos, ...sums }: Omit<Spent, 'costUsd'> & { readonly costNanos: number }): Spent {
  return { ...sums, costUsd: costNanos / NANOS_PER_DOLLAR };
}

const COLUMNS = {
  day: 'usage.day',
  agent: 'usage.agent_id',
  conversation: 'conversation.key',
  person: 'usage.person',
  purpose: 'usage.purpose',
  model: 'usage.model',
} as const;

function spendingQuery(query: SqlEngine['query'], { by, since, conversationId, limit }: SpendingQuery) {
  const key = sql<string | number>`${sql.ref(COLUMNS[by])}`;
  return query
    .selectFrom('usage')
    .$if(by === 'conversation', (select) =>
      select.innerJoin('conversation', 'conversation.id', 'usage.conversation_id').where(isKept),
    )
    .select(key.as('key'))
    .select(SUMS)
    .$if(since !== null, (select) => select.where('usage.day', '>=', dayOf(since ?? 0)))
    .$if(conversationId !== null, (select) => select.where('usage.conversation_id', '=', conversationId ?? 0))
    .groupBy(key)
    .$if(by !== 'day', (select) => select.orderBy('costNanos', 'desc').orderBy('inputTokens', 'desc'))
    .orderBy(key, by === 'day' ? 'desc' : 'asc')
    .limit(limit);
}

function toKey(by: SpendingKey, key: string | number): string | null {
  if (by === 'day') return new Date(Number(key) * DAY_MS).toISOString().slice(0, 10);
  return key === NOBODY ? null : String(key);
}

/** The person is removed from the calls of earlier days too: their sums stay, without a name. */
export async function forgetAskers(
  { query }: SqlEngine,
  transaction: Transaction,
  of:
    | { readonly conversationId: number; readonly before: number }
    | { readonly person: string; readonly within: string },
): Promise<void> {
  const chosen =
    'person' in of
      ? sql<boolean>`person = ${of.person} and conversation_id in ${conversationsWithin(of.within)}`
      : sql<boolean>`conversation_id = ${of.conversationId} and person <> ${NOBODY} and day < ${dayOf(of.before)}`;
  const columns = sql.join([...KEY, ...SUMMED, 'last_at'].map((column) => sql.ref(column)));
  const sums = sql.join(SUMMED.map((column) => sql`sum(${sql.ref(column)})`));
  const kept = sql.join(
    SUMMED.map((column) => sql`${sql.ref(column)} = ${sql.ref(`usage.${column}`)} + ${sql.ref(`excluded.${column}`)}`),
  );
  const merge = sql`
    insert into usage (${columns})
    select conversation_id, day, agent_id, ${NOBODY}, purpose, model, ${sums}, max(last_at) from usage
    where ${chosen} group by conversation_id, day, agent_id, purpose, model
    on conflict (${sql.join(KEY.map((column) => sql.ref(column)))}) do update set ${kept}`;
  await transaction.run(merge.compile(query));
  await transaction.run(query.deleteFrom('usage').where(chosen).compile());
}

function conversationsWithin(scope: string) {
  return sql`(select id from conversation where ${beginsWith('key', `${scope}:`)})`;
}
