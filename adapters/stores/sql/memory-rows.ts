import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import {
  AUDIENCES,
  type Memory,
  type MemoryEvent,
  type MemoryId,
  type MemoryReader,
  type MemorySource,
} from '../../../src/index.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction } from './engine.ts';
import { writeJson } from './json.ts';
import { toMemory } from './rows.ts';
import type { MemoryRow, Tables } from './tables.ts';

/** The rule of `memory/policy.ts` as a condition: filtered before anything is ranked, counted or cut. */
export function readableBy(reader: ReaderValues): Expression<SqlBool> {
  const where = expressionBuilder<Tables, 'memory'>();
  const looser = AUDIENCES.slice(AUDIENCES.indexOf(reader.audience));
  const ofPlace = where('memory.place', '=', reader.place);
  // A condition that all meet is left out: SQLite makes a table of its list, and that costs more than the search.
  const here =
    looser.length === AUDIENCES.length ? ofPlace : where.and([ofPlace, where('memory.audience', 'in', looser)]);
  const everywhere = where('memory.scope', '=', 'global');
  if (!reader.sharePublic || reader.audience !== 'public') return where.or([everywhere, here]);
  const shared = where.and([
    where('memory.workspace', '=', reader.workspace),
    where('memory.audience', '=', 'public'),
    where('memory.agent_id', '=', reader.agentId),
  ]);
  return where.or([everywhere, here, shared]);
}

/** A reader, or the places of its values in a query that is built once. */
export type ReaderValues = Pick<MemoryReader, 'audience' | 'sharePublic'> & {
  readonly [Name in 'place' | 'workspace' | 'agentId']: string | Expression<string>;
};

/**
 * Whether there is anything to read at all. Most places have no memories, and an ordered list of nothing costs SQLite
 * thirty times what this question does: it makes its tables for sorting before it looks.
 */
export function createReadableCheck({ query }: SqlEngine) {
  const kept = new Map<string, ReturnType<typeof build>>();
  const build = ({ audience, sharePublic }: MemoryReader) =>
    prepare((p: Parameter<Pick<MemoryReader, 'place' | 'workspace' | 'agentId'>>) => {
      const values = { place: p('place'), workspace: p('workspace'), agentId: p('agentId') };
      const readable = readableBy({ ...values, audience, sharePublic });
      return query.selectFrom('memory').select('id').where(readable).limit(1);
    });
  return async (transaction: Transaction, reader: MemoryReader): Promise<boolean> => {
    const shape = `${reader.audience} ${reader.sharePublic}`;
    const statement = kept.get(shape) ?? build(reader);
    kept.set(shape, statement);
    return (await first(transaction, statement(reader))) !== null;
  };
}

/** With their sources, in the order of the rows. */
export async function withSources(
  { query }: SqlEngine,
  transaction: Transaction,
  rows: readonly MemoryRow[],
): Promise<readonly Memory[]> {
  if (rows.length === 0) return [];
  const sources = await transaction.rows(
    query
      .selectFrom('memory_source')
      .innerJoin('conversation', 'conversation.id', 'memory_source.conversation_id')
      .leftJoin('entry', (join) =>
        join
          .onRef('entry.conversation_id', '=', 'memory_source.conversation_id')
          .onRef('entry.seq', '=', 'memory_source.seq'),
      )
      .select(['memory_id', 'memory_source.conversation_id', 'memory_source.seq', 'key', 'entry.external_id'])
      .where(
        'memory_id',
        'in',
        rows.map((row) => row.id),
      )
      .orderBy('memory_source.conversation_id')
      .orderBy('memory_source.seq')
      .compile(),
  );
  const byMemory = Map.groupBy(sources, (source) => source.memory_id);
  return rows.map((row) => toMemory(row, (byMemory.get(row.id) ?? []).map(toSource)));
}

function toSource(row: {
  conversation_id: number;
  key: MemorySource['conversation'];
  seq: number;
  external_id: string | null;
}): MemorySource {
  return { conversationId: row.conversation_id, conversation: row.key, seq: row.seq, externalId: row.external_id };
}

export function findMemory({ query }: SqlEngine, transaction: Transaction, id: MemoryId): Promise<MemoryRow | null> {
  return first(transaction, query.selectFrom('memory').selectAll().where('id', '=', id).compile());
}

/** Hard: row, sources, history and index. */
export async function removeMemories(
  engine: SqlEngine,
  transaction: Transaction,
  ids: readonly MemoryId[],
): Promise<void> {
  const { query, index } = engine;
  for (const id of ids) {
    const row = await findMemory(engine, transaction, id);
    if (row === null) continue;
    await index.memory(transaction, row, null);
    await transaction.run(query.deleteFrom('memory_source').where('memory_id', '=', id).compile());
    await transaction.run(query.deleteFrom('memory_event').where('memory_id', '=', id).compile());
    const predecessors = query.updateTable('memory').set({ superseded_by: null }).where('superseded_by', '=', id);
    await transaction.run(predecessors.compile());
    await transaction.run(query.deleteFrom('memory').where('id', '=', id).compile());
  }
}

export async function addMemoryEvent(
  { query }: SqlEngine,
  transaction: Transaction,
  event: MemoryEvent,
): Promise<void> {
  const row = {
    memory_id: event.memoryId,
    kind: event.kind,
    at: event.at,
    actor: event.actor,
    detail: writeJson(event.detail),
  };
  await transaction.run(query.insertInto('memory_event').values(row).compile());
}
