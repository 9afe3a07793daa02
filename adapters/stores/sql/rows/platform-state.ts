import { type ConversationKey, platformOf } from '../../../../src/adapter-kit.ts';
import { first, type SqlEngine, type Transaction } from '../query/engine.ts';

/** What the channel of a conversation keeps under its key. The channel may have written it first. */
export async function removeValuesOf(
  { query }: Pick<SqlEngine, 'query'>,
  transaction: Transaction,
  key: ConversationKey,
): Promise<void> {
  const prefix = `${platformOf(key)}.`;
  const next = (after: string) => query.selectFrom('state').select('namespace').where('namespace', '>', after);
  for (let last = prefix; ; ) {
    const row = await first(transaction, next(last).orderBy('namespace').limit(1).compile());
    if (row === null || !row.namespace.startsWith(prefix)) return;
    last = row.namespace;
    const values = query.deleteFrom('state').where('namespace', '=', last);
    await transaction.run(values.where('key', '=', key).compile());
  }
}
