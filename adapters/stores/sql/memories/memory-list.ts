import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Memory, MemoryId, MemoryList } from '../../../../src/adapter-kit.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { createShapes, named, padded, placeholders } from '../query/shapes.ts';
import { readableBy, type WithSources } from '../rows/memory-rows.ts';
import type { Tables } from '../schema/tables.ts';
import { asksForActive, byWeight, pickActive } from './memory-filter.ts';

/**
 * Reads a list of memories with their sources. Lists shorter than their limit, as most are, are sorted here, because
 * sorting costs SQLite far more, even if there is nothing to sort.
 */
export function createMemoryList(engine: SqlEngine, withSources: WithSources) {
  const statementsFor = createShapes(shapeOf, (list) => prepareList(engine, list));
  return async (transaction: Transaction, asked: MemoryList): Promise<readonly Memory[]> => {
    const active = asksForActive(asked) ? await engine.activeMemories(transaction, asked.reader) : null;
    if (active !== null) return pickActive(active, asked);
    const list = withPaddedRecall(asked);
    const statements = statementsFor(list);
    const values = valuesOf(list);
    if (list.offset === 0) {
      const rows = await transaction.rows(statements.some({ ...values, limit: list.limit + 1 }));
      if (rows.length <= list.limit) return (await withSources(transaction, rows)).toSorted(byWeight);
    }
    return withSources(transaction, await transaction.rows(statements.ordered(values)));
  };
}

function withPaddedRecall(list: MemoryList): MemoryList {
  if (list.recall === undefined) return list;
  return { ...list, recall: { ...list.recall, ids: padded(list.recall.ids) } };
}

function prepareList(engine: SqlEngine, list: MemoryList) {
  return {
    some: prepare((p: Parameter<ListValues>) => filtered(engine, list, p).limit(p('limit'))),
    ordered: prepare((p: Parameter<ListValues>) => ordered(filtered(engine, list, p), list, p)),
  };
}

interface ListValues {
  readonly [id: `id.${number}`]: MemoryId;
  readonly [recalled: `recalled.${number}`]: MemoryId;
  readonly [fingerprint: `fingerprint.${number}`]: string;
  readonly [source: `source.${number}`]: number;
  readonly [successor: `successor.${number}`]: MemoryId;
  readonly sourceConversation: number;
  readonly place: string;
  readonly workspace: string;
  readonly agentId: string;
  readonly subjectId: string;
  readonly idBeginning: string;
  readonly idLength: number;
  readonly recalledSubjectId: string;
  readonly limit: number;
  readonly offset: number;
}

/** Everything that the text of the query depends on. */
function shapeOf(list: MemoryList): string {
  const { reader, kinds, states, subjectId, recall, ids, idBeginning, fingerprints, restingOn, supersededBy } = list;
  const recalled = recall && [recall.ids.length, recall.subjectId === null, recall.kinds];
  const isGiven = [subjectId !== undefined, idBeginning !== undefined];
  const lengths = [ids?.length, fingerprints?.length, restingOn?.seqs.length, supersededBy?.length];
  const { audience, sharePublic } = reader;
  return JSON.stringify([audience, sharePublic, kinds, states, isGiven, recalled, lengths]);
}

function valuesOf(list: MemoryList): ListValues {
  const { reader, subjectId, recall, ids, idBeginning = '', fingerprints, restingOn, supersededBy } = list;
  const { limit, offset } = list;
  const { place, workspace, agentId } = reader;
  return {
    ...named('id', ids),
    ...named('recalled', recall?.ids),
    ...named('fingerprint', fingerprints),
    ...named('source', restingOn?.seqs),
    ...named('successor', supersededBy),
    sourceConversation: restingOn?.conversationId ?? 0,
    place,
    workspace,
    agentId,
    limit,
    offset,
    // For shapes that do not use them.
    subjectId: subjectId ?? '',
    idBeginning,
    idLength: idBeginning.length,
    recalledSubjectId: recall?.subjectId ?? '',
  };
}

function filtered({ query }: SqlEngine, list: MemoryList, p: Parameter<ListValues>) {
  const { audience, sharePublic } = list.reader;
  const reader = { place: p('place'), workspace: p('workspace'), agentId: p('agentId'), audience, sharePublic };
  // Not every engine accepts an empty list.
  const { kinds, states, ids, fingerprints, restingOn, supersededBy } = list;
  if ([kinds, states, ids, fingerprints, restingOn?.seqs, supersededBy].some((wanted) => wanted?.length === 0)) {
    return query.selectFrom('memory').selectAll().where(sql<SqlBool>`1 = 0`);
  }
  let select = query.selectFrom('memory').selectAll().where(readableBy(reader));
  if (kinds) select = select.where('kind', 'in', kinds);
  if (states) select = select.where('state', 'in', states);
  if (list.subjectId !== undefined) select = select.where('subject_id', '=', p('subjectId'));
  if (list.recall) select = select.where(considered(list.recall, list.reader, p));
  if (ids) select = select.where('id', 'in', placeholders(p, 'id', ids.length));
  if (list.idBeginning !== undefined) select = select.where(idBegins(p));
  if (fingerprints) select = select.where('fingerprint', 'in', placeholders(p, 'fingerprint', fingerprints.length));
  if (restingOn) select = select.where('id', 'in', restingMemories({ query }, restingOn.seqs, p));
  if (supersededBy) select = select.where('superseded_by', 'in', placeholders(p, 'successor', supersededBy.length));
  return select;
}

/** No range of ids, because their order depends on the database's collation. */
function idBegins(p: Parameter<ListValues>) {
  return sql<SqlBool>`substr(${sql.ref('memory.id')}, 1, cast(${p('idLength')} as integer)) = ${p('idBeginning')}`;
}

function restingMemories({ query }: Pick<SqlEngine, 'query'>, seqs: readonly number[], p: Parameter<ListValues>) {
  return query
    .selectFrom('memory_source')
    .select('memory_id')
    .where('conversation_id', '=', p('sourceConversation'))
    .where('seq', 'in', placeholders(p, 'source', seqs.length));
}

/** Recall's own ids are never crowded out by pins. */
function ordered(select: ReturnType<typeof filtered>, { recall }: MemoryList, p: Parameter<ListValues>) {
  const recalled = placeholders(p, 'recalled', recall?.ids.length ?? 0);
  const wantedFirst =
    recalled.length === 0
      ? select
      : select.orderBy((where) => where.case().when('id', 'in', recalled).then(0).else(1).end());
  return wantedFirst
    .orderBy('pinned', 'desc')
    .orderBy('importance', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(p('limit'))
    .offset(p('offset'));
}

function considered(
  { ids, subjectId, kinds }: NonNullable<MemoryList['recall']>,
  { audience }: MemoryList['reader'],
  p: Parameter<ListValues>,
): Expression<SqlBool> {
  const where = expressionBuilder<Tables, 'memory'>();
  const recalled = placeholders(p, 'recalled', ids.length);
  const forEverybody = where('subject_id', 'is', null);
  const forThem =
    subjectId === null ? forEverybody : where.or([forEverybody, where('subject_id', '=', p('recalledSubjectId'))]);
  return where.or([
    // In a DM every pin is the person's own.
    audience === 'dm' ? where('pinned', '=', 1) : where.and([where('pinned', '=', 1), forThem]),
    ...(recalled.length === 0 ? [] : [where('id', 'in', recalled)]),
    ...(subjectId === null || kinds.length === 0
      ? []
      : [where.and([where('subject_id', '=', p('recalledSubjectId')), where('kind', 'in', kinds)])]),
  ]);
}
