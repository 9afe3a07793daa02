import { type Compilable, type Expression, expressionBuilder, type SqlBool } from 'kysely';
import {
  AUDIENCES,
  type Memory,
  type MemoryEvent,
  type MemoryId,
  type MemoryReader,
  type MemorySource,
} from '../../../../src/adapter-kit.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { writeJson } from '../query/json.ts';
import { createShapes, named, padded, placeholders } from '../query/shapes.ts';
import type { MemoryRow, Tables } from '../schema/tables.ts';
import { removeQuotes } from './conversation-state.ts';
import { toMemory } from './domain-objects.ts';

/** The rule of `memory/rights/policy.ts` as an SQL condition, applied before anything is ranked, counted or cut. */
export function readableBy(reader: ReaderValues): Expression<SqlBool> {
  return expressionBuilder<Tables, 'memory'>().or([...conditionsOf(reader)]);
}

/** The same rule as conditions of which a memory meets at most one: the rows of each are in the order of one index. */
export function readablePartsFor(reader: ReaderValues): readonly Expression<SqlBool>[] {
  const where = expressionBuilder<Tables, 'memory'>();
  const [everywhere, here, shared] = conditionsOf(reader);
  const ofPlaces = where('memory.scope', '<>', 'global');
  const parts = [everywhere, where.and([here, ofPlaces])];
  if (shared === undefined) return parts;
  return [...parts, where.and([shared, ofPlaces, where('memory.place', '<>', reader.place)])];
}

type Condition = Expression<SqlBool>;

function conditionsOf(reader: ReaderValues): readonly [everywhere: Condition, here: Condition, ...shared: Condition[]] {
  const where = expressionBuilder<Tables, 'memory'>();
  const looser = AUDIENCES.slice(AUDIENCES.indexOf(reader.audience));
  const ofPlace = where('memory.place', '=', reader.place);
  // A condition that every row meets is left out: SQLite creates a table for its list, which costs more than the
  // search.
  const here =
    looser.length === AUDIENCES.length ? ofPlace : where.and([ofPlace, where('memory.audience', 'in', looser)]);
  const everywhere = where('memory.scope', '=', 'global');
  if (!reader.sharePublic || reader.audience !== 'public') return [everywhere, here];
  const shared = where.and([
    where('memory.workspace', '=', reader.workspace),
    where('memory.audience', '=', 'public'),
    where('memory.agent_id', '=', reader.agentId),
  ]);
  return [everywhere, here, shared];
}

/** A reader, or the placeholders for its values in a query that is built once. */
export type ReaderValues = Pick<MemoryReader, 'audience' | 'sharePublic'> & {
  readonly [Name in 'place' | 'workspace' | 'agentId']: string | Expression<string>;
};

/** Memories with their sources, in the order of the rows. */
export type WithSources = (transaction: Transaction, rows: readonly MemoryRow[]) => Promise<readonly Memory[]>;

export function createWithSources(engine: Pick<SqlEngine, 'query'>): WithSources {
  const sourcesOf = createShapes(String, (length) => prepareSources(engine, length));
  return async (transaction, rows) => {
    if (rows.length === 0) return [];
    const ids = padded(rows.map((row) => row.id));
    return toMemories(rows, await transaction.rows(sourcesOf(ids.length)(named('id', ids))));
  };
}

export function toMemories(rows: readonly MemoryRow[], sources: readonly SourceRow[]): readonly Memory[] {
  const byMemory = Map.groupBy(sources, (source) => source.memory_id);
  return rows.map((row) => toMemory(row, (byMemory.get(row.id) ?? []).map(toSource)));
}

function prepareSources({ query }: Pick<SqlEngine, 'query'>, length: number) {
  return prepare((p: Parameter<{ readonly [id: `id.${number}`]: MemoryId }>) =>
    selectSources(query, placeholders(p, 'id', length)),
  );
}

/** The sources of some memories, in their order. */
export function selectSources(
  query: SqlEngine['query'],
  memoryIds: Expression<MemoryId> | readonly Expression<MemoryId>[],
): Compilable<SourceRow> {
  return query
    .selectFrom('memory_source')
    .innerJoin('conversation', 'conversation.id', 'memory_source.conversation_id')
    .leftJoin('entry', (join) =>
      join
        .onRef('entry.conversation_id', '=', 'memory_source.conversation_id')
        .onRef('entry.seq', '=', 'memory_source.seq'),
    )
    .select([
      'memory_id',
      'memory_source.conversation_id',
      'memory_source.seq',
      'key',
      'entry.external_id',
      'entry.author_id',
    ])
    .where('memory_id', 'in', memoryIds)
    .orderBy('memory_source.conversation_id')
    .orderBy('memory_source.seq');
}

interface SourceRow {
  readonly memory_id: MemoryId;
  readonly conversation_id: number;
  readonly key: MemorySource['conversation'];
  readonly seq: number;
  readonly external_id: string | null;
  readonly author_id: string | null;
}

function toSource(row: SourceRow): MemorySource {
  return {
    conversationId: row.conversation_id,
    conversation: row.key,
    seq: row.seq,
    externalId: row.external_id,
    authorId: row.author_id,
  };
}

export function findMemory({ query }: SqlEngine, transaction: Transaction, id: MemoryId): Promise<MemoryRow | null> {
  return first(transaction, query.selectFrom('memory').selectAll().where('id', '=', id).compile());
}

/** Deletes row, sources, history and index, and what may quote them where a reply was given them. */
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
    const readers = query.selectFrom('memory_reading').select('conversation_id').where('memory_id', '=', id);
    await removeQuotes(engine, transaction, readers.$asScalar());
    await transaction.run(query.deleteFrom('memory_reading').where('memory_id', '=', id).compile());
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
