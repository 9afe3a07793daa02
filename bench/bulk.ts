import { estimateParts } from '../src/context/measure/tokens.ts';
import { placeOf, workspaceOf } from '../src/domain/key.ts';
import type { MemoryId, SummaryId } from '../src/domain/message.ts';
import type { Storage } from '../src/services.ts';
import { appendPast } from './past.ts';
import { conversationKey } from './world.ts';

export interface BulkConversation {
  readonly name: string | number;
  /** Its target number of entries. */
  readonly entries: number;
  readonly text: () => string;
  /** All but the newest entries are summarised, as after years of conversation. Default: nothing is summarised. */
  readonly isSummarised?: boolean;
  /** For a new conversation. Default 0. */
  readonly memories?: number;
  /** Maintenance is due at once. Default false. */
  readonly isDue?: boolean;
}

export type BulkTable = 'conversation' | 'entry' | 'summary' | 'memory';
export type BulkRow = Readonly<Record<string, string | number | null>>;

export interface BulkEntry {
  readonly conversationId: number;
  readonly seq: number;
  readonly text: string;
}

export interface BulkMemory {
  readonly id: string;
  readonly workspace: string;
  readonly text: string;
}

/** Bulk-inserts rows into one kind of store: few transactions, and no wait for the disk. */
export interface BulkWriter {
  /** Adds copies of the first row of the table, with the given changes. */
  copy(table: BulkTable, rows: readonly BulkRow[]): Promise<void>;
  indexEntries(entries: readonly BulkEntry[]): Promise<void>;
  indexMemories(memories: readonly BulkMemory[]): Promise<void>;
  conversations(): Promise<readonly BulkPlace[]>;
  run(sql: string): Promise<void>;
}

export interface BulkPlace {
  readonly key: string;
  readonly id: number;
  readonly nextSeq: number;
}

const AT_ONCE = 5_000;

/** The first row of each table is written through the store. All others are copies of it, whatever its columns are. */
export async function addFirstRows(storage: Storage): Promise<void> {
  const { store } = storage;
  const conversation = conversationKey('first');
  if ((await store.conversations.find(conversation)) !== null) return;
  await appendPast({ storage }, { conversation, from: 1, count: 2, text: () => 'Something was said.' });
  const conversationId = (await store.conversations.find(conversation))?.id ?? 0;
  const now = Date.now();
  const id = 'first' as SummaryId;
  await store.summaries.openGap({ id, conversationId, expectedCompactedUpto: 0, toSeq: 1, now });
  const memory = {
    id: 'first' as MemoryId,
    agentId: 'main',
    kind: 'fact',
    text: 'Something is so.',
    importance: 0.5,
    confidence: 1,
    scope: 'place',
    place: placeOf(conversation),
    workspace: workspaceOf(conversation),
    audience: 'dm',
    subjectId: null,
    subjectName: null,
    trust: 'self',
    state: 'active',
    pinned: false,
    validFrom: now,
    validUntil: null,
    fingerprint: 'first',
    extractedBy: null,
  } as const;
  await store.memories.save({
    conversationId,
    writes: [{ kind: 'insert', memory, sources: [1] }],
    actor: 'model',
    now,
  });
}

export async function fill(writer: BulkWriter, conversations: readonly BulkConversation[]): Promise<void> {
  const known = placesOf(await writer.conversations());
  const added = conversations.filter(({ name }) => !known.has(conversationKey(name)));
  for (const batch of batches(added)) await writer.copy('conversation', batch.map(conversationRow));
  const places = placesOf(await writer.conversations());
  for (const batch of batches(newEntries(conversations, { places, known }))) {
    await writer.copy('entry', batch.map(entryRow));
    await writer.indexEntries(batch);
  }
  for (const batch of batches(newMemories(added))) {
    await writer.copy('memory', batch.map(memoryRow));
    await writer.indexMemories(batch);
  }
  // Nothing should work on the first one.
  await writer.run(`update conversation set maintain_at = null where key = '${conversationKey('first')}'`);
  const isEnded = ({ name, isSummarised = false }: BulkConversation) =>
    !isSummarised && !known.has(conversationKey(name));
  for (const conversation of conversations) {
    if (!isEnded(conversation)) await end(writer, conversation, places);
  }
}

type Places = ReadonlyMap<string, BulkPlace>;

function placesOf(found: readonly BulkPlace[]): Places {
  return new Map(found.map((place) => [place.key, place]));
}

function placeIn(places: Places, { name }: BulkConversation): BulkPlace {
  const place = places.get(conversationKey(name));
  if (place === undefined) throw new Error(`There is no conversation ${name}`);
  return place;
}

/** As it is when all its entries are there. */
function conversationRow({ name, entries, isDue = false }: BulkConversation): BulkRow {
  const key = conversationKey(name);
  const read = { compacted_upto: 0, extracted_upto: 0, revision: 0 };
  return { key, place: placeOf(key), ...read, next_seq: entries + 1, maintain_at: isDue ? Date.now() : null };
}

function* newEntries(
  conversations: readonly BulkConversation[],
  { places, known }: { readonly places: Places; readonly known: Places },
): Generator<BulkEntry> {
  for (const conversation of conversations) {
    const { id: conversationId, key } = placeIn(places, conversation);
    for (let seq = known.get(key)?.nextSeq ?? 1; seq <= conversation.entries; seq += 1) {
      yield { conversationId, seq, text: conversation.text() };
    }
  }
}

function entryRow({ conversationId, seq, text }: BulkEntry): BulkRow {
  const parts = [{ kind: 'text', text }] as const;
  const said = { parts: JSON.stringify(parts), tokens: estimateParts(parts) };
  return { conversation_id: conversationId, seq, external_id: `past-${seq}`, ...said };
}

function* newMemories(conversations: readonly BulkConversation[]): Generator<BulkMemory & { readonly place: string }> {
  for (const { name, memories = 0, text } of conversations) {
    const key = conversationKey(name);
    const workspace = workspaceOf(key);
    for (let index = 0; index < memories; index += 1) {
      yield { id: `m-${name}-${index}`, workspace, place: placeOf(key), text: text() };
    }
  }
}

function memoryRow({ id, workspace, place, text }: BulkMemory & { readonly place: string }): BulkRow {
  return { id, workspace, place, text, fingerprint: id };
}

/** For a summarised conversation: the length of its tail, and the number of its layers. */
const TAIL = 200;
const LAYER = 50;
const LAYERS = 12;

async function end(writer: BulkWriter, conversation: BulkConversation, places: Places): Promise<void> {
  const { entries, isSummarised = false, isDue = false, text } = conversation;
  const { id } = placeIn(places, conversation);
  const upto = isSummarised ? Math.max(0, Math.floor((entries - TAIL) / LAYER)) * LAYER : 0;
  const seqs = `next_seq = ${entries + 1}, compacted_upto = ${upto}, extracted_upto = ${upto}`;
  const state = `${seqs}, maintain_at = ${isDue ? Date.now() : 'null'}`;
  await writer.run(`update conversation set ${state} where id = ${id}`);
  if (upto === 0) return;
  await writer.run(`delete from summary where conversation_id = ${id}`);
  const said = Array.from({ length: 5 }, text).join('. ');
  for (const batch of batches(layersOf(upto))) {
    await writer.copy(
      'summary',
      batch.map((layer) => ({ ...layer, conversation_id: id, kind: 'summary', text: said, tokens: 100 })),
    );
  }
}

/** The oldest of many summaries were condensed into one, so the stack stays bounded; the sources are kept. */
function* layersOf(upto: number): Generator<BulkRow> {
  const count = upto / LAYER;
  const condensed = Math.max(0, count - LAYERS + 1);
  const level = { level: 0, superseded_by: null };
  if (condensed > 0) yield { ...level, id: `s-${upto}`, level: 1, from_seq: 1, to_seq: condensed * LAYER };
  for (let index = 0; index < count; index += 1) {
    const range = { from_seq: index * LAYER + 1, to_seq: (index + 1) * LAYER };
    yield { ...level, ...range, id: `s-${upto}-${index}`, superseded_by: index < condensed ? `s-${upto}` : null };
  }
}

function* batches<Item>(items: Iterable<Item>): Generator<readonly Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
