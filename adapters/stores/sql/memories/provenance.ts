import { sql } from 'kysely';
import {
  type Addition,
  type Audience,
  createRecentMap,
  type MemoryId,
  type ProvenanceStore,
  type WithheldMemory,
  type WithheldQuery,
} from '../../../../src/adapter-kit.ts';
import { decideHeld, listHeld } from '../forgetting/held.ts';
import { beginsWith } from '../query/conditions.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { readAdditions } from '../query/json.ts';
import { createShapes, named, padded, placeholders } from '../query/shapes.ts';
import { presentOf } from '../rows/conversation-rows.ts';
import { readableBy } from '../rows/memory-rows.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow } from '../schema/tables.ts';

export function createProvenance(shared: Shared): ProvenanceStore {
  const { engine } = shared;
  const readGiven = createReadGiven(engine);
  return {
    readings: (ids) =>
      engine.read(async (tx) => {
        if (ids.length === 0) return [];
        const rows = engine.query.selectFrom('memory_reading').selectAll().where('memory_id', 'in', ids);
        return (await tx.rows(rows.compile())).map((row) => ({
          memoryId: row.memory_id,
          conversationId: row.conversation_id,
          fromSeq: row.from_seq,
        }));
      }),
    areReadable: (conversationId, ids) =>
      engine.read(async (tx) => {
        const row = await shared.conversations.get(tx, conversationId);
        return row !== null && !(await readGiven(tx, row, [...new Set(ids)])).isWithdrawn;
      }),
    memoryAdditions: (ids) => engine.read((tx) => memoryAdditions(engine, tx, ids)),
    messageAdditions: (conversationId, seqs) =>
      engine.read((tx) => messageAdditions(engine, tx, { conversationId, seqs })),
    held: (query) => engine.read((tx) => listHeld(shared, tx, query)),
    async decide(decision) {
      const decided = await engine.write((tx) => decideHeld(shared, tx, decision));
      if (decided !== null && decision.kind === 'strike') await engine.scrub();
      return decided;
    },
    withheld: (query) => engine.read((tx) => listWithheld(engine, tx, query)),
  };
}

/** Maximum number of ids or seqs in one statement. */
const MAX_LISTED = 1000;

function memoryAdditions({ query }: SqlEngine, transaction: Transaction, ids: readonly MemoryId[]) {
  const edited = query.selectFrom('memory').select(['id as key', 'added']).where('added', 'is not', null);
  return readByKey(ids, (some) => transaction.rows(edited.where('id', 'in', some).compile()));
}

function messageAdditions(
  { query }: SqlEngine,
  transaction: Transaction,
  { conversationId, seqs }: { readonly conversationId: number; readonly seqs: readonly number[] },
) {
  const own = query.selectFrom('entry').select(['seq as key', 'added']).where('conversation_id', '=', conversationId);
  const edited = own.where('added', 'is not', null);
  return readByKey(seqs, (some) => transaction.rows(edited.where('seq', 'in', some).compile()));
}

async function readByKey<Key>(
  keys: readonly Key[],
  read: (some: readonly Key[]) => Promise<readonly { readonly key: Key; readonly added: string | null }[]>,
): Promise<ReadonlyMap<Key, readonly Addition[]>> {
  const found = new Map<Key, readonly Addition[]>();
  for (let from = 0; from < keys.length; from += MAX_LISTED) {
    for (const { key, added } of await read(keys.slice(from, from + MAX_LISTED))) found.set(key, readAdditions(added));
  }
  return found;
}

async function listWithheld(
  { query }: SqlEngine,
  transaction: Transaction,
  { subjectId, within, reader, limit, after }: WithheldQuery,
): Promise<readonly WithheldMemory[]> {
  const own = query
    .selectFrom('memory')
    .select(['id', 'kind', 'state', 'audience', 'created_at as createdAt'])
    .where('subject_id', '=', subjectId)
    .where(beginsWith('place', `${within}:`))
    .where((where) => where.not(readableBy(reader)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  const rest = after === null ? own : own.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return await transaction.rows(rest.limit(limit).compile());
}

interface Reading {
  readonly conversationId: number;
  readonly ids: readonly MemoryId[];
  readonly fromSeq: number;
}

/** Records that a reply was given memories from elsewhere. Memories of the conversation itself need no record. */
export function createNoteReadings(engine: Pick<SqlEngine, 'query'>) {
  const noteFor = createShapes(String, (length) => prepareNote(engine, length));
  return async (transaction: Transaction, { conversationId, ids, fromSeq }: Reading): Promise<void> => {
    if (ids.length === 0) return;
    const noted = padded(ids);
    await transaction.run(noteFor(noted.length)({ ...named('id', noted), conversationId, fromSeq }));
  };
}

interface NoteValues {
  readonly [id: `id.${number}`]: MemoryId;
  readonly conversationId: number;
  readonly fromSeq: number;
}

function prepareNote({ query }: Pick<SqlEngine, 'query'>, length: number) {
  return prepare((p: Parameter<NoteValues>) => {
    const ids = placeholders(p, 'id', length);
    const own = query
      .selectFrom('memory_source')
      .select('memory_id')
      .where('conversation_id', '=', p('conversationId'));
    const foreign = query
      .selectFrom('memory')
      .select(['id', p('conversationId').as('conversation_id'), p('fromSeq').as('from_seq')])
      .where('id', 'in', ids)
      .where('id', 'not in', own.where('memory_id', 'in', ids));
    return query
      .insertInto('memory_reading')
      .columns(['memory_id', 'conversation_id', 'from_seq'])
      .expression(foreign)
      .onConflict((conflict) => conflict.doNothing());
  });
}

/** What the store knows about the memories that a turn was given. */
export interface Given {
  /** One of them is gone or no longer readable in the conversation: a reply that was given it may repeat it. */
  readonly isWithdrawn: boolean;
  /** Memories from elsewhere that have no record of this conversation yet. */
  readonly unnoted: readonly MemoryId[];
}

/** Reads what became of the memories. Which agent may share them was decided when they were given. */
export function createReadGiven(engine: Pick<SqlEngine, 'query' | 'memoryMark'>) {
  const statementFor = createShapes(
    ({ present, length }: GivenShape) => `${present} ${length}`,
    (shape) => prepareGiven(engine, shape),
  );
  const settled = createSettled();
  return async (transaction: Transaction, row: ConversationRow, ids: readonly MemoryId[]): Promise<Given> => {
    if (ids.length === 0) return { isWithdrawn: false, unnoted: [] };
    const mark = engine.memoryMark();
    if (settled.covers(row, mark, ids)) return { isWithdrawn: false, unnoted: [] };
    const asked = padded(ids);
    const statement = statementFor({ present: presentOf(row), length: asked.length });
    const values = { ...named('id', asked), place: row.place, conversationId: row.id };
    const rows = await transaction.rows(statement(values));
    const isNoted = ({ readIn, saidIn }: (typeof rows)[number]) => readIn !== null || saidIn !== null;
    const readable = rows.filter(({ isReadable }) => isReadable);
    settled.add(
      row,
      mark,
      readable.filter(isNoted).map(({ id }) => id),
    );
    return {
      isWithdrawn: readable.length < ids.length,
      unnoted: rows.filter((given) => !isNoted(given)).map(({ id }) => id),
    };
  };
}

/** Maximum number of conversations whose memories are remembered. */
const MAX_SETTLED = 500;
/** Memories of each; with more, only those that were asked for last are remembered. */
const MAX_SETTLED_IDS = 100;

/** Memories that a conversation may read and whose record it has, until any memory changes. */
function createSettled() {
  const kept = createRecentMap<number, { readonly at: string; readonly ids: Set<MemoryId> }>(MAX_SETTLED);
  const atOf = (row: ConversationRow, mark: string) => `${mark} ${presentOf(row)} ${row.place}`;
  return {
    covers(row: ConversationRow, mark: string | null, ids: readonly MemoryId[]): boolean {
      const known = kept.get(row.id);
      return mark !== null && known?.at === atOf(row, mark) && ids.every((id) => known.ids.has(id));
    },
    add(row: ConversationRow, mark: string | null, ids: readonly MemoryId[]): void {
      if (mark === null) return;
      const known = kept.get(row.id);
      const at = atOf(row, mark);
      const all = new Set([...(known?.at === at ? known.ids : []), ...ids]);
      kept.set(row.id, { at, ids: all.size > MAX_SETTLED_IDS ? new Set(ids) : all });
    },
  };
}

interface GivenValues {
  readonly [id: `id.${number}`]: MemoryId;
  readonly place: string;
  readonly conversationId: number;
}

interface GivenShape {
  readonly present: Audience;
  readonly length: number;
}

function prepareGiven({ query }: Pick<SqlEngine, 'query'>, { present, length }: GivenShape) {
  return prepare((p: Parameter<GivenValues>) => {
    const ids = placeholders(p, 'id', length);
    const place = p('place');
    const here = p('conversationId');
    // Workspace and agent matter only if public memories are shared.
    const reader = { place, workspace: place, agentId: place, audience: present, sharePublic: false };
    return query
      .selectFrom('memory')
      .select('id')
      .select((select) => [
        // Not a condition: SQLite would read all memories of the place to find the few.
        select
          .or([readableBy(reader), ...(present === 'public' ? [select('memory.audience', '=', present)] : [])])
          .as('isReadable'),
        select
          .selectFrom('memory_reading as reading')
          .select('reading.conversation_id')
          .whereRef('reading.memory_id', '=', 'memory.id')
          .where('reading.conversation_id', '=', here)
          .as('readIn'),
        select
          .selectFrom('memory_source as source')
          .select('source.conversation_id')
          .whereRef('source.memory_id', '=', 'memory.id')
          .where('source.conversation_id', '=', here)
          .limit(sql.lit(1))
          .as('saidIn'),
      ])
      .where('id', 'in', ids);
  });
}
