import type { Updateable } from 'kysely';
import type { BlobId, SummaryId } from '../../../../src/adapter-kit.ts';
import type { Transaction } from '../query/engine.ts';
import { readParts } from '../query/json.ts';
import { removeBlobs } from '../records/blobs.ts';
import { asGap } from '../records/summaries.ts';
import { dueAt } from '../rows/conversation-rows.ts';
import { removeQuotes } from '../rows/conversation-state.ts';
import { removeMemories } from '../rows/memory-rows.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, EntryRow, SummaryRow, Tables } from '../schema/tables.ts';

/** What happens to the layers above an entry when its text is deleted or changed. */

export interface Redaction {
  readonly row: ConversationRow;
  readonly entries: readonly EntryRow[];
  /** Summaries of other entries that repeat the text. */
  readonly summaryIds?: readonly SummaryId[];
  /** Long tool results of any entry, or of none, that repeat the text. */
  readonly blobIds?: readonly BlobId[];
  readonly now: number;
  /** Whether all memories without other sources are deleted too. If not, only those that rest on the bot's words are. */
  readonly dropMemories: boolean;
}

/** Deletes the text of entries and of everything derived from it. Returns the seqs that still had text. */
export async function redact(
  shared: Shared,
  transaction: Transaction,
  redaction: Redaction,
): Promise<readonly number[]> {
  const { row, now, summaryIds = [], blobIds = [] } = redaction;
  const entries = redaction.entries.filter((entry) => entry.redacted_at === null);
  if (entries.length + summaryIds.length + blobIds.length === 0) return [];
  await removeBlobs(shared.engine, transaction, { conversationId: row.id, ids: blobIds });
  const revision = row.revision + 1;
  for (const entry of entries) {
    await removeCopies(shared, transaction, entry);
    const erased = { parts: '[]', mentions: '[]', tokens: 0, redacted_at: now, changed_revision: revision };
    await shared.entries.rewrite(transaction, entry, erased);
  }
  const seqs = entries.map((entry) => entry.seq);
  if (seqs.length > 0) {
    const held = shared.engine.query.deleteFrom('held').where('conversation_id', '=', row.id);
    await transaction.run(held.where('seq', 'in', seqs).compile());
  }
  await shared.engine.noteDeletion(transaction);
  await changeLayers(shared, transaction, { row, seqs, summaryIds, change: asGap });
  const bases = redaction.dropMemories ? entries : entries.filter((entry) => entry.role !== 'user');
  if (bases.length > 0) await dropMemories(shared, transaction, { row, seqs: bases.map((entry) => entry.seq) });
  const debt = await remainingDebt(shared, transaction, row);
  await removeQuotes(shared.engine, transaction, [row.id]);
  await shared.conversations.change(transaction, row.id, {
    ...changedIn(revision),
    ...withoutReader(row),
    ...debt,
    ...dueAt(row, now),
  });
  return seqs;
}

const MAX_WAITING = 200;

/** A deleted question waits for no answer: the newest message with text becomes the last one that is owed a reply. */
async function remainingDebt(
  { entries }: Shared,
  transaction: Transaction,
  row: ConversationRow,
): Promise<Updateable<Tables['conversation']>> {
  if (row.reply_due_seq <= row.answered_upto) return {};
  const fromSeq = Math.max(row.answered_upto + 1, row.reply_due_from);
  const range = { conversationId: row.id, fromSeq, toSeq: row.reply_due_seq, limit: MAX_WAITING };
  const waiting = await entries.newest(transaction, range);
  const isOwed = ({ seq, wants_reply: wantsReply }: EntryRow) => wantsReply === 1 || seq === row.reply_due_seq;
  const newest = waiting.findLast((entry) => isOwed(entry) && entry.redacted_at === null);
  return { reply_due_seq: newest?.seq ?? row.answered_upto };
}

/** What a conversation's row says after its text was deleted or edited. The last error may quote it. */
export function changedIn(revision: number): Updateable<Tables['conversation']> {
  return { revision, changed_revision: revision, last_error: null };
}

/** A running turn has read the text and might repeat it. It loses its claim, and the message is answered again. */
export function withoutReader(row: ConversationRow): Updateable<Tables['conversation']> {
  return row.reply_until === null ? {} : { reply_epoch: row.reply_epoch + 1, reply_until: null };
}

/** Full tool results, and posts that were or will be sent. */
async function removeCopies({ engine }: Shared, transaction: Transaction, entry: EntryRow): Promise<void> {
  const { query } = engine;
  const blobs = readParts(entry.parts).flatMap((part) =>
    part.kind === 'tool-result' && part.blob !== null ? [part.blob.id] : [],
  );
  await removeBlobs(engine, transaction, { conversationId: entry.conversation_id, ids: blobs });
  if (entry.role === 'user') return;
  const posts = query
    .updateTable('outbox')
    .where('conversation_id', '=', entry.conversation_id)
    .where('entry_seq', '=', entry.seq);
  await transaction.run(posts.set({ body: null }).compile());
  const unsent = posts.set({ state: 'failed', reason: 'redacted' }).where('state', '=', 'pending');
  await transaction.run(unsent.compile());
}

interface LayerChange {
  readonly row: ConversationRow;
  readonly seqs: readonly number[];
  /** Further summaries that change, whatever they cover. */
  readonly summaryIds?: readonly SummaryId[];
  /** What happens to a live level-0 summary of one of the entries. */
  readonly change: Updateable<Tables['summary']>;
}

/**
 * Condensed summaries of one of the entries are dissolved, so that their unaffected parts are shown again and only the
 * affected part is rewritten. Superseded ones lose their text: no rewrite will correct them. Highest level first, because
 * each one releases its children.
 */
export async function changeLayers(shared: Shared, transaction: Transaction, layers: LayerChange): Promise<void> {
  const { row, seqs } = layers;
  // What waits may repeat the text, or rest on a summary that does. It is written again.
  await shared.ready.clear(transaction, row.id);
  const named = await ownSummaries(shared, transaction, layers);
  const bounds = [...seqs, ...named.flatMap((item) => [item.from_seq, item.to_seq])];
  if (bounds.length === 0) return;
  const span = { conversationId: row.id, fromSeq: Math.min(...bounds), toSeq: Math.max(...bounds) };
  const covering = await shared.summaries.covering(transaction, span);
  const touched = covering.filter(
    (item) => named.some(({ id }) => id === item.id) || seqs.some((seq) => item.from_seq <= seq && seq <= item.to_seq),
  );
  const freed = new Set<string>();
  const gone = new Set<string>();
  for (const item of touched) {
    if (gone.has(item.id)) continue;
    const isLive = item.superseded_by === null || freed.has(item.superseded_by);
    if (isLive && item.level > 0) {
      freed.add(item.id);
      for (const { id } of await dissolve(shared, transaction, item)) gone.add(id);
    } else if (isLive) {
      if (item.kind === 'summary') await shared.summaries.change(transaction, item, layers.change);
    } else if (item.level === 0) {
      await shared.summaries.change(transaction, item, asGap);
    } else {
      await takeOut(shared, transaction, item);
    }
  }
}

async function ownSummaries(
  shared: Shared,
  transaction: Transaction,
  { row, summaryIds = [] }: LayerChange,
): Promise<readonly SummaryRow[]> {
  const found: SummaryRow[] = [];
  for (const id of summaryIds) {
    const item = await shared.summaries.find(transaction, id);
    if (item !== null && item.conversation_id === row.id) found.push(item);
  }
  return found;
}

/** A gap covers messages only, so the summary above it gets its parts instead. */
async function takeOut({ summaries }: Shared, transaction: Transaction, item: SummaryRow): Promise<void> {
  for (const child of await summaries.children(transaction, item)) {
    await summaries.change(transaction, child, { superseded_by: item.superseded_by });
  }
  await summaries.remove(transaction, item);
}

/** Deletes a condensed summary and its earlier versions, and shows its parts again. Returns the earlier versions. */
async function dissolve(
  { summaries }: Shared,
  transaction: Transaction,
  item: SummaryRow,
): Promise<readonly SummaryRow[]> {
  for (const child of await summaries.children(transaction, item)) {
    await summaries.change(transaction, child, { superseded_by: null });
  }
  const versions = await summaries.versions(transaction, item);
  for (const row of [item, ...versions]) await summaries.remove(transaction, row);
  return versions;
}

/** Removes these sources from memories; memories without another source are deleted. */
export async function dropMemories(
  { engine }: Shared,
  transaction: Transaction,
  { row, seqs }: { row: ConversationRow; seqs: readonly number[] },
): Promise<void> {
  const { query } = engine;
  await engine.lockMemories(transaction);
  const touched = await transaction.rows(
    query
      .selectFrom('memory_source')
      .select('memory_id')
      .distinct()
      .where('conversation_id', '=', row.id)
      .where('seq', 'in', seqs)
      .compile(),
  );
  if (touched.length === 0) return;
  const ids = touched.map((source) => source.memory_id);
  const gone = query.deleteFrom('memory_source').where('conversation_id', '=', row.id).where('seq', 'in', seqs);
  await transaction.run(gone.compile());
  const supported = query.selectFrom('memory_source').select('memory_id').distinct().where('memory_id', 'in', ids);
  const kept = new Set((await transaction.rows(supported.compile())).map((source) => source.memory_id));
  await removeMemories(
    engine,
    transaction,
    ids.filter((id) => !kept.has(id)),
  );
}
