import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import { DAY_MS } from '../../../../src/adapter-kit.ts';
import { ofConversation, required, zero } from '../schema/columns.ts';

/** The migration after which usage is stored by day, agent and person, with reasoning tokens and costs. */
export const USAGE_BY_DAY = '0008_usage_by_day';

const unnamed = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo('');

/** SQLite cannot change a key, so the table is rebuilt. */
export async function rebuildUsage(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('usage_by_day')
    .addColumn('conversation_id', 'bigint', ofConversation)
    .addColumn('day', 'bigint', zero)
    .addColumn('agent_id', 'text', unnamed)
    .addColumn('person', 'text', unnamed)
    .addColumn('purpose', 'text', required)
    .addColumn('model', 'text', required)
    .addColumn('calls', 'bigint', required)
    .addColumn('unpriced_calls', 'bigint', zero)
    .addColumn('input_tokens', 'bigint', required)
    .addColumn('output_tokens', 'bigint', required)
    .addColumn('cache_read_tokens', 'bigint', required)
    .addColumn('cache_write_tokens', 'bigint', required)
    .addColumn('reasoning_tokens', 'bigint', zero)
    .addColumn('cost_nanos', 'bigint', zero)
    .addColumn('last_at', 'bigint', required)
    .addPrimaryKeyConstraint('usage_by_day_key', ['conversation_id', 'day', 'agent_id', 'person', 'purpose', 'model'])
    .execute();
  const kept = sql.raw(
    'conversation_id, purpose, model, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, last_at',
  );
  await sql`insert into usage_by_day (${kept}) select ${kept} from usage`.execute(database);
  await database.schema.dropTable('usage').execute();
  await database.schema.alterTable('usage_by_day').renameTo('usage').execute();
  await DATE_USAGE.execute(database);
}

/** Sums of an older version, which knew neither days nor prices, count for the day of their last call. */
export const DATE_USAGE = sql`
  update usage set day = last_at / ${sql.lit(DAY_MS)}, unpriced_calls = calls where day = 0`;
