import {
  type Audience,
  type MemoryId,
  type MemorySave,
  type MemoryWrite,
  type NewMemory,
  parseKey,
  tighter,
} from '../../../../src/adapter-kit.ts';
import { first, type SqlEngine, type Transaction } from '../query/engine.ts';
import { writeJson } from '../query/json.ts';
import type { MemoryRow } from '../schema/tables.ts';
import { holdsReply, presentOf } from './conversation-rows.ts';
import { addMemoryEvent, findMemory } from './memory-rows.ts';
import type { Shared } from './shared.ts';

interface Writing {
  readonly engine: SqlEngine;
  readonly transaction: Transaction;
  readonly save: MemorySave;
}

/** Applies the writes in the caller's transaction. Returns the ids in order, and null for skipped ones. */
export async function applyWrites(
  shared: Pick<Shared, 'engine' | 'conversations'>,
  transaction: Transaction,
  save: MemorySave,
): Promise<readonly (MemoryId | null)[]> {
  if (save.writes.length === 0) return [];
  if (await isRevoked(shared, transaction, save)) return save.writes.map(() => null);
  const { engine } = shared;
  await engine.lockMemories(transaction);
  const ids: (MemoryId | null)[] = [];
  for (const write of save.writes) ids.push(await apply({ engine, transaction, save }, write));
  return ids;
}

/**
 * The conversation is being deleted, or the turn that saves has lost its claim: what the writes come from may have been
 * forgotten.
 */
async function isRevoked(
  { conversations }: Pick<Shared, 'conversations'>,
  transaction: Transaction,
  { conversationId, replyEpoch }: MemorySave,
): Promise<boolean> {
  if (conversationId === null) return false;
  const row = await conversations.lock(transaction, conversationId);
  return row === null || (replyEpoch !== undefined && !holdsReply(row, replyEpoch));
}

function apply(writing: Writing, write: MemoryWrite): Promise<MemoryId | null> {
  switch (write.kind) {
    case 'insert':
      return insert(writing, write);
    case 'corroborate':
      return corroborate(writing, write);
    case 'supersede':
      return supersede(writing, write);
    default:
      return write satisfies never;
  }
}

async function insert(writing: Writing, write: Extract<MemoryWrite, { kind: 'insert' }>): Promise<MemoryId | null> {
  const { engine, transaction, save } = writing;
  if (await isTaken(writing, write.memory)) return null;
  const row = newRow({ ...write.memory, audience: await audienceNow(writing, write) }, save.now);
  await transaction.run(engine.query.insertInto('memory').values(row).compile());
  await engine.index.memory(transaction, null, row);
  await addSources(writing, row.id, write.sources);
  await note(writing, row.id, 'added');
  return row.id;
}

/**
 * Forgotten in the place, or already known there about the same person. A superseded statement may become true again.
 */
async function isTaken({ engine, transaction }: Writing, memory: NewMemory): Promise<boolean> {
  const { place, fingerprint, subjectId } = memory;
  const tombstone = engine.query
    .selectFrom('tombstone')
    .select('at')
    .where('place', '=', place)
    .where('fingerprint', '=', fingerprint);
  if ((await first(transaction, tombstone.compile())) !== null) return true;
  const present = engine.query
    .selectFrom('memory')
    .select('id')
    .where('place', '=', place)
    .where('fingerprint', '=', fingerprint)
    .where('agent_id', '=', memory.agentId)
    .where('scope', '=', memory.scope)
    .where('subject_id', subjectId === null ? 'is' : '=', subjectId)
    .where('state', '!=', 'superseded')
    .limit(1);
  return (await first(transaction, present.compile())) !== null;
}

/**
 * The narrower of then and now: no wider than the place is now, and no wider than it ever was if a source is older than
 * its present audience. A place without messages is recorded, so that later changes are noticed.
 */
async function audienceNow(
  { engine, transaction, save }: Writing,
  { memory, sources }: Extract<MemoryWrite, { kind: 'insert' }>,
): Promise<Audience> {
  if (memory.scope === 'global') return memory.audience;
  const { place, audience } = memory;
  const rows = await transaction.rows(
    engine.query
      .selectFrom('conversation')
      .select(['id', 'audience', 'present_audience', 'present_from'])
      .where('place', '=', place)
      .compile(),
  );
  if (rows.length === 0) await openPlace({ engine, transaction, save }, place, audience);
  return rows.reduce((tightest, row) => {
    const isOlder = row.id === save.conversationId && sources.some((seq) => seq < row.present_from);
    return tighter(tightest, isOlder ? row.audience : presentOf(row));
  }, audience);
}

async function openPlace({ engine, transaction, save }: Writing, place: string, audience: Audience): Promise<void> {
  const { now } = save;
  const row = { key: parseKey(place).key, place, audience, next_seq: 1, context_from: 1 };
  const insertion = engine.query.insertInto('conversation').values({ ...row, created_at: now, last_activity_at: now });
  await transaction.run(insertion.onConflict((conflict) => conflict.column('key').doNothing()).compile());
}

function newRow(memory: NewMemory, now: number): MemoryRow {
  return {
    id: memory.id,
    agent_id: memory.agentId,
    kind: memory.kind,
    text: memory.text,
    importance: memory.importance,
    confidence: memory.confidence,
    scope: memory.scope,
    place: memory.place,
    workspace: memory.workspace,
    audience: memory.audience,
    subject_id: memory.subjectId,
    subject_name: memory.subjectName,
    trust: memory.trust,
    state: memory.state,
    pinned: memory.pinned ? 1 : 0,
    valid_from: memory.validFrom,
    valid_until: memory.validUntil,
    superseded_by: null,
    recall_count: 0,
    last_recalled_at: null,
    created_at: now,
    updated_at: now,
    fingerprint: memory.fingerprint,
    extracted_by: memory.extractedBy === null ? null : writeJson(memory.extractedBy),
    added: null,
  };
}

async function corroborate(
  writing: Writing,
  write: Extract<MemoryWrite, { kind: 'corroborate' }>,
): Promise<MemoryId | null> {
  const { engine, transaction, save } = writing;
  const row = await findMemory(engine, transaction, write.id);
  if (row === null) return null;
  const isPromoted = write.promote && row.state === 'candidate';
  const values = { updated_at: save.now, state: isPromoted ? ('active' as const) : row.state };
  await transaction.run(engine.query.updateTable('memory').set(values).where('id', '=', row.id).compile());
  await addSources(writing, row.id, write.sources);
  await note(writing, row.id, 'corroborated');
  if (isPromoted) await note(writing, row.id, 'promoted');
  return row.id;
}

async function supersede(
  writing: Writing,
  write: Extract<MemoryWrite, { kind: 'supersede' }>,
): Promise<MemoryId | null> {
  const { engine, transaction, save } = writing;
  const inserted = await insert(writing, { kind: 'insert', memory: write.memory, sources: write.sources });
  if (inserted === null || inserted === write.id) return inserted;
  const values = { state: 'superseded' as const, superseded_by: inserted, updated_at: save.now, valid_until: save.now };
  const update = engine.query.updateTable('memory').set(values).where('id', '=', write.id);
  if ((await transaction.run(update.compile())) > 0) await note(writing, write.id, 'superseded');
  return inserted;
}

async function addSources(
  { engine, transaction, save }: Writing,
  id: MemoryId,
  seqs: readonly number[],
): Promise<void> {
  const { conversationId } = save;
  if (conversationId === null || seqs.length === 0) return;
  const rows = seqs.map((seq) => ({ memory_id: id, conversation_id: conversationId, seq }));
  const insertion = engine.query.insertInto('memory_source').values(rows);
  await transaction.run(insertion.onConflict((conflict) => conflict.doNothing()).compile());
}

async function note(
  { engine, transaction, save }: Writing,
  memoryId: MemoryId,
  kind: 'added' | 'corroborated' | 'promoted' | 'superseded',
): Promise<void> {
  await addMemoryEvent(engine, transaction, { memoryId, kind, at: save.now, actor: save.actor, detail: null });
}
