import type { Updateable } from 'kysely';
import type { SummaryId } from '../../../../src/adapter-kit.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import type { ConversationRow, SummaryRow, Tables } from '../schema/tables.ts';

/** Summaries and gaps as units read and write them, with their search index. */
export interface SummaryRows {
  find(transaction: Transaction, id: SummaryId): Promise<SummaryRow | null>;
  /** The stack of the current context. */
  live(transaction: Transaction, conversation: LiveStack): Promise<readonly SummaryRow[]>;
  /** The summaries that it condenses. */
  children(transaction: Transaction, parent: Parent): Promise<readonly SummaryRow[]>;
  /** The earlier versions of its level, which it has replaced. */
  versions(transaction: Transaction, latest: Parent): Promise<readonly SummaryRow[]>;
  /** A summary in other words takes the place of one of its level, with its sources and earlier versions. */
  supersede(transaction: Transaction, ids: { readonly old: SummaryId; readonly by: SummaryId }): Promise<void>;
  /** All that cover an entry from `fromSeq` to `toSeq`, including superseded ones, highest level first. */
  covering(transaction: Transaction, range: SummaryRange): Promise<readonly SummaryRow[]>;
  insert(transaction: Transaction, row: SummaryRow): Promise<void>;
  change(transaction: Transaction, row: SummaryRow, values: Updateable<Tables['summary']>): Promise<void>;
  remove(transaction: Transaction, row: SummaryRow): Promise<void>;
}

type Parent = Pick<SummaryRow, 'id' | 'level'>;
type LiveStack = Pick<ConversationRow, 'id' | 'context_from'>;

export interface SummaryRange {
  readonly conversationId: number;
  readonly fromSeq: number;
  readonly toSeq: number;
}

export function createSummaryRows(engine: SqlEngine): SummaryRows {
  const { query } = engine;
  const statements = prepareStatements(engine);
  const reindex = async (transaction: Transaction, row: SummaryRow, after: string) => {
    if (row.text === after) return;
    const change = { conversationId: row.conversation_id, id: row.id, before: row.text, after };
    await engine.index.summary(transaction, change);
  };
  return {
    find: (transaction, id) => first(transaction, statements.find({ id })),
    live: (transaction, { id, context_from }) => transaction.rows(statements.live({ id, context_from })),
    children: (transaction, { id, level }) => transaction.rows(statements.children({ id, level })),
    versions: (transaction, { id, level }) => transaction.rows(statements.versions({ id, level })),
    async supersede(transaction, { old, by }) {
      const whole = query.updateTable('summary').set({ superseded_by: by });
      await transaction.run(whole.where((is) => is.or([is('id', '=', old), is('superseded_by', '=', old)])).compile());
    },
    covering: (transaction, range) => transaction.rows(statements.covering(range)),
    async insert(transaction, row) {
      await transaction.run(query.insertInto('summary').values(row).compile());
      await reindex(transaction, { ...row, text: '' }, row.text);
    },
    async change(transaction, row, values) {
      await transaction.run(query.updateTable('summary').set(values).where('id', '=', row.id).compile());
      await reindex(transaction, row, values.text ?? row.text);
    },
    async remove(transaction, row) {
      await reindex(transaction, row, '');
      await transaction.run(query.deleteFrom('summary').where('id', '=', row.id).compile());
    },
  };
}

function prepareStatements({ query }: SqlEngine) {
  const all = query.selectFrom('summary').selectAll();
  return {
    find: prepare((p: Parameter<{ id: SummaryId }>) => all.where('id', '=', p('id'))),
    live: prepare((p: Parameter<LiveStack>) =>
      all
        .where('conversation_id', '=', p('id'))
        .where('superseded_by', 'is', null)
        .where('from_seq', '>=', p('context_from'))
        .orderBy('from_seq'),
    ),
    children: prepare((p: Parameter<Parent>) =>
      all.where('superseded_by', '=', p('id')).where('level', '<', p('level')).orderBy('from_seq'),
    ),
    versions: prepare((p: Parameter<Parent>) =>
      all.where('superseded_by', '=', p('id')).where('level', '=', p('level')),
    ),
    covering: prepare((p: Parameter<SummaryRange>) =>
      all
        .where('conversation_id', '=', p('conversationId'))
        .where('from_seq', '<=', p('toSeq'))
        .where('to_seq', '>=', p('fromSeq'))
        .orderBy('level', 'desc')
        .orderBy('from_seq'),
    ),
  };
}
