import { type Expression, expressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Memory, MemoryId, MemoryList } from '../../../../src/adapter-kit.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { createShapes, named, padded, placeholders } from '../query/shapes.ts';
import { readableBy, readablePartsFor, type WithSources } from '../rows/memory-rows.ts';
import type { MemoryRow, Tables } from '../schema/tables.ts';
import { asksForActive, byWeight, isByKey, pickActive } from './memory-filter.ts';

/** A list of active memories, if the engine knows them without a transaction. Otherwise null. */
export function knownList(engine: Pick<SqlEngine, 'knownMemories'>, asked: MemoryList): readonly Memory[] | null {
  const active = asksForActive(asked) ? engine.knownMemories(asked.reader) : null;
  return active === null ? null : pickActive(active, asked);
}

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
    if (list.offset === 0 && list.after == null) {
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
    ordered: prepare((p: Parameter<ListValues>) => ordered(parted(engine, list, p), list, p)),
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
  readonly afterPinned: number;
  readonly afterImportance: number;
  readonly afterCreatedAt: number;
  readonly afterId: string;
  readonly limit: number;
  readonly offset: number;
}

/** Everything that the text of the query depends on. */
function shapeOf(list: MemoryList): string {
  const { reader, kinds, states, subjectId, recall, ids, idBeginning, fingerprints, restingOn, supersededBy } = list;
  const recalled = recall && [recall.ids.length, recall.subjectId === null, recall.kinds];
  const isGiven = [subjectId !== undefined, idBeginning !== undefined, list.after != null];
  const lengths = [ids?.length, fingerprints?.length, restingOn?.seqs.length, supersededBy?.length];
  const { audience, sharePublic } = reader;
  return JSON.stringify([audience, sharePublic, kinds, states, isGiven, recalled, lengths]);
}

function valuesOf(list: MemoryList): ListValues {
  const { reader, subjectId, recall, ids, idBeginning = '', fingerprints, restingOn, supersededBy } = list;
  const { limit, offset, after } = list;
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
    afterPinned: Number(after?.pinned ?? false),
    afterImportance: after?.importance ?? 0,
    afterCreatedAt: after?.createdAt ?? 0,
    afterId: after?.id ?? '',
  };
}

function filtered({ query }: SqlEngine, list: MemoryList, p: Parameter<ListValues>) {
  const readable = readableBy(readerOf(list, p));
  // Otherwise SQLite would read all memories of the place to find the few.
  const isReadable = isByKey(list) ? sql<SqlBool>`(${readable}) is true` : readable;
  return narrowed(query.selectFrom('memory').selectAll().where(isReadable), list, p);
}

/** The same rows, so that the first ones can be read in the order of an index, without reading and sorting all. */
function parted({ query }: SqlEngine, list: MemoryList, p: Parameter<ListValues>) {
  const parts = readablePartsFor(readerOf(list, p)).map((isPart) => {
    const rows = narrowed(query.selectFrom('memory').selectAll().where(isPart), list, p);
    if (list.after == null) return rows;
    const after = sql`(${p('afterPinned')}, ${p('afterImportance')}, ${p('afterCreatedAt')}, ${p('afterId')})`;
    return rows.where(sql<SqlBool>`(pinned, importance, created_at, id) < ${after}`);
  });
  const [first, ...more] = parts;
  if (first === undefined) throw new Error('Nobody can read a memory');
  return query.selectFrom(more.reduce((all, part) => all.unionAll(part), first).as('memory')).selectAll();
}

function readerOf({ reader: { audience, sharePublic } }: MemoryList, p: Parameter<ListValues>) {
  return { place: p('place'), workspace: p('workspace'), agentId: p('agentId'), audience, sharePublic };
}

type Rows = SelectQueryBuilder<Tables, 'memory', MemoryRow>;

function narrowed(rows: Rows, list: MemoryList, p: Parameter<ListValues>): Rows {
  // Not every engine accepts an empty list.
  const { kinds, states, ids, fingerprints, restingOn, supersededBy } = list;
  if ([kinds, states, ids, fingerprints, restingOn?.seqs, supersededBy].some((wanted) => wanted?.length === 0)) {
    return rows.where(sql<SqlBool>`1 = 0`);
  }
  let select = rows;
  if (kinds) select = select.where('kind', 'in', kinds);
  if (states) select = select.where('state', 'in', states);
  if (list.subjectId !== undefined) select = select.where('subject_id', '=', p('subjectId'));
  if (list.recall) select = select.where(considered(list.recall, list.reader, p));
  if (ids) select = select.where('id', 'in', placeholders(p, 'id', ids.length));
  if (list.idBeginning !== undefined) select = select.where(idBegins(p));
  if (fingerprints) select = select.where('fingerprint', 'in', placeholders(p, 'fingerprint', fingerprints.length));
  if (restingOn) select = select.where('id', 'in', restingMemories(restingOn.seqs, p));
  if (supersededBy) select = select.where('superseded_by', 'in', placeholders(p, 'successor', supersededBy.length));
  return select;
}

/** No range of ids, because their order depends on the database's collation. */
function idBegins(p: Parameter<ListValues>) {
  return sql<SqlBool>`substr(${sql.ref('memory.id')}, 1, cast(${p('idLength')} as integer)) = ${p('idBeginning')}`;
}

function restingMemories(seqs: readonly number[], p: Parameter<ListValues>) {
  return expressionBuilder<Tables, 'memory'>()
    .selectFrom('memory_source')
    .select('memory_id')
    .where('conversation_id', '=', p('sourceConversation'))
    .where('seq', 'in', placeholders(p, 'source', seqs.length));
}

/** Recall's own ids are never crowded out by pins. */
function ordered(select: Rows, { recall }: MemoryList, p: Parameter<ListValues>) {
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
