import {
  additionsAfter,
  type ForgetPlan,
  type MemoryChange,
  type MemoryEvent,
  type MemoryId,
  type MemoryStore,
} from '../../../../src/adapter-kit.ts';
import { removeSentences } from '../forgetting/held.ts';
import { redact } from '../forgetting/redaction.ts';
import { interrupt, lockInOrder } from '../forgetting/withdrawal.ts';
import { beginsWith } from '../query/conditions.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction } from '../query/engine.ts';
import { readAdditions, readMemoryEvent, writeAdditions } from '../query/json.ts';
import { forgetAskers } from '../records/usage.ts';
import { addMemoryEvent, createWithSources, findMemory, removeMemories } from '../rows/memory-rows.ts';
import { applyWrites } from '../rows/memory-writes.ts';
import type { Shared } from '../rows/shared.ts';
import type { MemoryRow } from '../schema/tables.ts';
import { createMemoryList, knownList } from './memory-list.ts';
import { createNoteReadings } from './provenance.ts';

export function createMemories(shared: Shared): MemoryStore {
  const { engine } = shared;
  const countRecall = prepareCountRecall(engine);
  const withSources = createWithSources(engine);
  const listed = createMemoryList(engine, withSources);
  const noteReadings = createNoteReadings(engine);
  return {
    save: (save) => engine.write((tx) => applyWrites(shared, tx, save)),
    find: (id) =>
      engine.read(async (tx) => {
        const row = await findMemory(engine, tx, id);
        return row === null ? null : ((await withSources(tx, [row]))[0] ?? null);
      }),
    list: async (query) => knownList(engine, query) ?? engine.read((tx) => listed(tx, query)),
    async change(id, change, event) {
      const found = await engine.write((tx) => changeMemory(engine, tx, { id, change, event }));
      if (found === 'reworded') void shared.soon.run();
      return found !== 'unknown';
    },
    async forget(plan) {
      await engine.write((tx) =>
        'workspace' in plan ? forgetWorkspace(engine, tx, plan.workspace) : forget(shared, tx, plan),
      );
      return { remains: await engine.scrub() };
    },
    events: (id) =>
      engine.read(async (tx) => {
        const own = engine.query.selectFrom('memory_event').selectAll().where('memory_id', '=', id).orderBy('id');
        return (await tx.rows(own.compile())).map((row) => readMemoryEvent(row));
      }),
    recalled: (ids, { conversationId, now }) =>
      engine.write(async (tx) => {
        const row = await shared.conversations.get(tx, conversationId);
        if (row !== null) await noteReadings(tx, { conversationId, ids, fromSeq: row.next_seq - 1 });
        // In a fixed order, so that two units that count the same ones do not deadlock.
        for (const id of ids.toSorted()) await tx.run(countRecall({ id, now }));
      }),
    forgotten: (place, fingerprints) => engine.read((tx) => forgotten(engine, tx, { place, fingerprints })),
  };
}

async function changeMemory(
  engine: SqlEngine,
  transaction: Transaction,
  {
    id,
    change,
    event,
  }: { readonly id: MemoryId; readonly change: MemoryChange; readonly event: Omit<MemoryEvent, 'memoryId'> },
): Promise<'unknown' | 'changed' | 'reworded'> {
  await engine.lockMemories(transaction);
  const row = await findMemory(engine, transaction, id);
  if (row === null) return 'unknown';
  const changed = merge(row, change, event.at);
  const { id: _id, ...values } = changed;
  await transaction.run(engine.query.updateTable('memory').set(values).where('id', '=', id).compile());
  await addMemoryEvent(engine, transaction, { ...event, memoryId: id });
  if (changed.text === row.text) return 'changed';
  await engine.index.memory(transaction, row, changed);
  // The earlier words may have been wrong about somebody.
  await engine.noteDeletion(transaction);
  return 'reworded';
}

function merge(row: MemoryRow, change: MemoryChange, now: number): MemoryRow {
  return {
    ...row,
    text: change.text ?? row.text,
    added: change.text === undefined ? row.added : addedBy(row, { text: change.text, now }),
    fingerprint: change.fingerprint ?? row.fingerprint,
    kind: change.kind ?? row.kind,
    importance: change.importance ?? row.importance,
    pinned: change.pinned === undefined ? row.pinned : Number(change.pinned),
    state: change.state ?? row.state,
    trust: change.trust ?? row.trust,
    valid_until: change.validUntil === undefined ? row.valid_until : change.validUntil,
    superseded_by: change.supersededBy === undefined ? row.superseded_by : change.supersededBy,
    // An event alone, such as an export, does not make a memory newer.
    updated_at: Object.keys(change).length === 0 ? row.updated_at : now,
  };
}

function addedBy(row: MemoryRow, edit: { readonly text: string; readonly now: number }): string | null {
  const known = readAdditions(row.added);
  return writeAdditions(additionsAfter({ before: row.text, after: edit.text, known, at: edit.now }));
}

async function forget(shared: Shared, transaction: Transaction, plan: ForgetPlan): Promise<void> {
  const { engine } = shared;
  const readers = {
    places: [...new Set(plan.tombstones.map(({ place }) => place))],
    conversationIds: await readersOf(engine, transaction, plan.memoryIds),
  };
  const touched = [...plan.redactions, ...plan.sentences].map(({ conversationId }) => conversationId);
  await lockInOrder(engine, transaction, { ...readers, conversationIds: [...readers.conversationIds, ...touched] });
  await interrupt(shared, transaction, { ...readers, now: plan.now });
  await engine.lockMemories(transaction);
  await engine.noteDeletion(transaction);
  await removeMemories(engine, transaction, plan.memoryIds);
  for (const tombstone of plan.tombstones) {
    const insertion = engine.query.insertInto('tombstone').values({ ...tombstone, at: plan.now });
    await transaction.run(insertion.onConflict((conflict) => conflict.doNothing()).compile());
  }
  await removeText(shared, transaction, plan);
  if (plan.asker !== undefined) await forgetAskers(engine, transaction, plan.asker);
}

async function removeText(shared: Shared, transaction: Transaction, plan: ForgetPlan): Promise<void> {
  const { conversations, entries } = shared;
  const { now } = plan;
  for (const { conversationId, seqs, summaryIds, blobIds = [] } of plan.redactions) {
    const row = await conversations.lock(transaction, conversationId);
    if (row === null) continue;
    const found = await entries.pick(transaction, conversationId, seqs);
    await redact(shared, transaction, { row, entries: found, summaryIds, blobIds, now, dropMemories: false });
  }
  for (const [conversationId, removals] of Map.groupBy(plan.sentences, (removal) => removal.conversationId)) {
    const row = await conversations.lock(transaction, conversationId);
    if (row !== null) await removeSentences(shared, transaction, { row, removals, now });
  }
}

/** Maximum number of ids in one statement. */
const MAX_IDS = 1000;

/** Conversations in which a reply was given one of the memories. */
async function readersOf(
  { query }: SqlEngine,
  transaction: Transaction,
  ids: readonly MemoryId[],
): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const own = query
      .selectFrom('memory_reading')
      .select('conversation_id')
      .distinct()
      .where('memory_id', 'in', ids.slice(from, from + MAX_IDS));
    for (const row of await transaction.rows(own.compile())) found.add(row.conversation_id);
  }
  return [...found];
}

async function forgetWorkspace(engine: SqlEngine, transaction: Transaction, workspace: string): Promise<void> {
  const { query } = engine;
  await engine.lockMemories(transaction);
  const captured = query.selectFrom('memory').select('id').where('workspace', '=', workspace);
  const ids = (await transaction.rows(captured.compile())).map((memory) => memory.id);
  await engine.noteDeletion(transaction);
  await removeMemories(engine, transaction, ids);
  const tombstones = query.deleteFrom('tombstone').where(beginsWith('place', `${workspace}:`));
  await transaction.run(tombstones.compile());
}

/** A count, not an event: a memory may be recalled with every turn. */
function prepareCountRecall({ query }: SqlEngine) {
  return prepare((p: Parameter<{ id: MemoryId; now: number }>) =>
    query
      .updateTable('memory')
      .set((set) => ({ recall_count: set('recall_count', '+', 1), last_recalled_at: p('now') }))
      .where('id', '=', p('id')),
  );
}

async function forgotten(
  { query }: SqlEngine,
  transaction: Transaction,
  { place, fingerprints }: { place: string; fingerprints: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (fingerprints.length === 0) return new Set();
  const found = query.selectFrom('tombstone').select('fingerprint').where('place', '=', place);
  const rows = await transaction.rows(found.where('fingerprint', 'in', fingerprints).compile());
  return new Set(rows.map((row) => row.fingerprint));
}
