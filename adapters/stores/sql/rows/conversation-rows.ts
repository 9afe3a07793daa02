import { type RawBuilder, sql, type Updateable } from 'kysely';
import { type Audience, type ConversationKey, MINUTE_MS } from '../../../../src/adapter-kit.ts';
import { beginsWith } from '../query/conditions.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import type { ConversationRow, Tables } from '../schema/tables.ts';

/** A conversation's row as units read and change it. */
export interface ConversationRows {
  get(transaction: Transaction, id: number): Promise<ConversationRow | null>;
  find(transaction: Transaction, key: ConversationKey): Promise<ConversationRow | null>;
  /** The first step of every unit that decides from the row: until the unit ends, nothing else changes it. */
  lock(transaction: Transaction, id: number): Promise<ConversationRow | null>;
  change(transaction: Transaction, id: number, values: Updateable<Tables['conversation']>): Promise<void>;
}

export function createConversationRows(engine: SqlEngine): ConversationRows {
  const { query, rowLocks } = engine;
  const byId = prepare<{ id: number }, ConversationRow>((p) =>
    query.selectFrom('conversation').selectAll().where('id', '=', p('id')).where(isKept),
  );
  const byKey = prepare<{ key: ConversationKey }, ConversationRow>((p) =>
    query.selectFrom('conversation').selectAll().where('key', '=', p('key')),
  );
  const locked = prepare<{ id: number }, ConversationRow>((p) =>
    query
      .selectFrom('conversation')
      .selectAll()
      .where('id', '=', p('id'))
      .where(isKept)
      .$if(rowLocks, (select) => select.forUpdate()),
  );
  return {
    get: (transaction, id) => first(transaction, byId({ id })),
    find: (transaction, key) => first(transaction, byKey({ key })),
    lock: (transaction, id) => first(transaction, locked({ id })),
    async change(transaction, id, values) {
      await transaction.run(query.updateTable('conversation').set(values).where('id', '=', id).compile());
    },
  };
}

/** No key begins with this: it marks a conversation that is being deleted. */
export const GONE = ' ';

/** Matches no index, so that the sort order determines the index. */
export const isKept = sql<boolean>`substr(conversation.key, 1, 1) <> ${sql.lit(GONE)}`;

type Values = { readonly [Column in keyof ConversationRow]?: RawBuilder<ConversationRow[Column]> };

/**
 * An update of the row for a unit that may also change when maintenance is due. Most do not, and SQLite would rewrite
 * the index of a column that is set to the same value.
 */
export function prepareUpdate(query: SqlEngine['query'], values: (parameter: Parameter<ConversationRow>) => Values) {
  const update = (p: Parameter<ConversationRow>, changes: Values) =>
    query.updateTable('conversation').set(changes).where('id', '=', p('id'));
  const asDue = prepare((p: Parameter<ConversationRow>) => update(p, values(p)));
  const dueLater = prepare((p: Parameter<ConversationRow>) =>
    update(p, { ...values(p), maintain_at: p('maintain_at') }),
  );
  return (before: ConversationRow, after: ConversationRow) =>
    (before.maintain_at === after.maintain_at ? asDue : dueLater)(after);
}

/** Who can read a conversation now. */
export function presentOf(row: Pick<ConversationRow, 'audience' | 'present_audience'>): Audience {
  return row.present_audience ?? row.audience;
}

/** No claim or hold lasts longer. One that ends later was made before the clock was set back. */
const MAX_HOLD_MS = 15 * MINUTE_MS;

export function isFree(until: number | null, now: number, maxMs = MAX_HOLD_MS): boolean {
  return until === null || until <= now || until > now + maxMs;
}

type HeldColumn = 'reply_until' | 'maintenance_until' | 'next_attempt_at' | 'outbox.held_until';

/** `isFree` as a condition. */
export function whereFree(column: HeldColumn, now: number, maxMs = MAX_HOLD_MS) {
  const until = sql.ref(column);
  return sql<boolean>`(${until} is null or ${until} <= ${now} or ${until} > ${now + maxMs})`;
}

/** The epoch of a new claim. */
export function nextEpoch({ leastEpoch }: Pick<SqlEngine, 'leastEpoch'>, before: number): number {
  return Math.max(before + 1, leastEpoch());
}

/** Whether the epoch of a claim is still the newest and was not released. */
export function holdsReply(row: ConversationRow, epoch: number): boolean {
  return row.reply_epoch === epoch && row.reply_until !== null;
}

export function holdsMaintenance(row: ConversationRow, epoch: number): boolean {
  return row.maintenance_epoch === epoch && row.maintenance_until !== null;
}

export function earliest(existing: number | null, at: number): number {
  return existing === null ? at : Math.min(existing, at);
}

/** Work is due at `at`, whatever time a running job sets when it ends. */
export function dueAt(row: Pick<ConversationRow, 'maintain_at'>, at: number) {
  return { maintain_at: earliest(row.maintain_at, at), maintain_again: 1 };
}

/** Whether the conversation belongs to the platform: its key begins with the name. */
export function isOf(platform: string) {
  return beginsWith('conversation.key', `${platform}:`);
}
