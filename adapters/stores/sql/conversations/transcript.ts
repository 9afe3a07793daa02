import {
  additionsAfter,
  type EntryEdit,
  type MessageRedaction,
  type TranscriptStore,
  textOfEverything,
  yieldToEventLoop,
} from '../../../../src/adapter-kit.ts';
import { withoutHeld } from '../forgetting/held.ts';
import { changedIn, changeLayers, dropMemories, redact } from '../forgetting/redaction.ts';
import { withoutStruck } from '../forgetting/struck.ts';
import { type Transaction, together } from '../query/engine.ts';
import { readAdditions, readParts, writeAdditions, writeJson } from '../query/json.ts';
import { dueAt } from '../rows/conversation-rows.ts';
import { removeQuotes } from '../rows/conversation-state.ts';
import { toConversation, toEntry, toSummary } from '../rows/domain-objects.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, EntryRow, ReadEntryRow } from '../schema/tables.ts';
import { createAppend } from './append.ts';
import { createTurnCommit } from './turn.ts';

export function createTranscript(shared: Shared): TranscriptStore {
  const { engine, conversations, entries } = shared;
  /** The entries; none if the conversation is being deleted. */
  const existing = async (tx: Transaction, id: number, rows: Promise<readonly ReadEntryRow[]>) => {
    const [row, found] = await together([conversations.get(tx, id), rows]);
    return row === null ? [] : found.map(toEntry);
  };
  return {
    append: createAppend(shared),
    commitTurn: createTurnCommit(shared),
    async context(conversationId, { maxEntries }) {
      const rows = await engine.read((tx) => readContext(shared, tx, { conversationId, maxEntries }));
      if (rows === null) return null;
      const { row, stack, omitted } = rows;
      // The rows are one snapshot; converting them need not delay other transactions.
      const tail = await inSlices(rows.tail, toEntry);
      return { conversation: toConversation(row), stack: stack.map(toSummary), tail, omitted, ready: rows.ready };
    },
    read: (conversationId, range) =>
      engine.read((tx) => existing(tx, conversationId, entries.oldest(tx, { conversationId, ...range }))),
    pick: (conversationId, seqs) =>
      engine.read((tx) => existing(tx, conversationId, entries.read(tx, conversationId, seqs))),
    byExternalId: (conversationId, externalId) =>
      engine.read(async (tx) => {
        const row = await entries.byExternalId(tx, conversationId, externalId);
        return row === null ? null : toEntry(row);
      }),
    async edit(conversationId, edit) {
      const found = await engine.write((tx) => editEntry(shared, tx, { conversationId, edit }));
      if (found === 'changed') void shared.soon.run();
      return found !== 'unknown';
    },
    async redact(conversationId, redaction) {
      const redacted = await engine.write((tx) => redactMessages(shared, tx, { conversationId, ...redaction }));
      if (redacted.size > 0) await engine.scrub();
      return redacted.get(conversationId) ?? [];
    },
  };
}

async function readContext(
  { engine, conversations, summaries, ready, entries }: Shared,
  transaction: Transaction,
  { conversationId, maxEntries }: { conversationId: number; maxEntries: number },
) {
  const row = await conversations.get(transaction, conversationId);
  if (row === null) return null;
  const range = { conversationId, fromSeq: row.compacted_upto + 1, toSeq: row.next_seq - 1, limit: maxEntries };
  const [stack, waiting, tail] = await together([
    summaries.live(transaction, row),
    ready.list(transaction, conversationId),
    entries.newest(transaction, range),
  ]);
  const firstSeq = tail[0]?.seq ?? row.next_seq;
  const tokens = await tokensBefore(engine, transaction, { row, firstSeq });
  return { row, stack, ready: waiting, tail, omitted: { entries: firstSeq - range.fromSeq, tokens } };
}

/** Rows per slice, about a millisecond. */
const SLICE = 200;

/** A long conversation has thousands of rows, so other work may run between the slices. */
async function inSlices<Row, Value>(rows: readonly Row[], make: (row: Row) => Value): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let from = 0; from < rows.length; from += SLICE) {
    if (from > 0) await yieldToEventLoop();
    values.push(...rows.slice(from, from + SLICE).map(make));
  }
  return values;
}

async function tokensBefore(
  { query }: Shared['engine'],
  transaction: Transaction,
  { row, firstSeq }: { row: ConversationRow; firstSeq: number },
): Promise<number> {
  if (firstSeq === row.compacted_upto + 1) return 0;
  const sum = query
    .selectFrom('entry')
    .select((select) => select.fn.sum<number | null>('tokens').as('tokens'))
    .where('conversation_id', '=', row.id)
    .where('seq', '>', row.compacted_upto)
    .where('seq', '<', firstSeq);
  const [total] = await transaction.rows(sum.compile());
  return total?.tokens ?? 0;
}

/** The redacted seqs by conversation. */
async function redactMessages(
  shared: Shared,
  transaction: Transaction,
  { conversationId, externalIds, derived = [], now }: MessageRedaction & { readonly conversationId: number },
): Promise<ReadonlyMap<number, readonly number[]>> {
  const redacted = new Map<number, readonly number[]>();
  const ids = new Set([conversationId, ...derived.map((one) => one.conversationId)]);
  // In the order in which a job takes the same locks.
  for (const id of [...ids].sort((a, b) => a - b)) {
    const row = await shared.conversations.lock(transaction, id);
    if (row === null) continue;
    const own = derived.filter((one) => one.conversationId === id);
    const named = id === conversationId ? await findAll(shared, transaction, { conversationId, externalIds }) : [];
    const repeating = await shared.entries.pick(
      transaction,
      id,
      own.flatMap(({ seqs }) => seqs),
    );
    const entries = new Map([...named, ...repeating].map((entry) => [entry.seq, entry]));
    const summaryIds = own.flatMap((one) => one.summaryIds);
    const blobIds = own.flatMap((one) => one.blobIds ?? []);
    const change = { row, entries: [...entries.values()], summaryIds, blobIds, now, dropMemories: true };
    const seqs = await redact(shared, transaction, change);
    if (seqs.length + summaryIds.length + blobIds.length > 0) redacted.set(id, seqs);
  }
  return redacted;
}

async function findAll(
  { entries }: Shared,
  transaction: Transaction,
  { conversationId, externalIds }: { conversationId: number; externalIds: readonly string[] },
): Promise<readonly EntryRow[]> {
  const bySeq = new Map<number, EntryRow>();
  for (const externalId of externalIds) {
    const row = await entries.byExternalId(transaction, conversationId, externalId);
    if (row !== null) bySeq.set(row.seq, row);
  }
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

async function editEntry(
  shared: Shared,
  transaction: Transaction,
  { conversationId, edit }: { conversationId: number; edit: EntryEdit },
): Promise<'unknown' | 'same' | 'changed'> {
  const row = await shared.conversations.lock(transaction, conversationId);
  const entry = await shared.entries.byExternalId(transaction, conversationId, edit.externalId);
  if (row === null || entry === null || entry.redacted_at !== null) return 'unknown';
  const shown = await withoutHeld(shared, transaction, { entry, parts: edit.parts });
  const parts = writeJson(await withoutStruck(shared, transaction, { row, entry, parts: shown }));
  if (parts === entry.parts) return 'same';
  await shared.engine.noteDeletion(transaction);
  const revision = row.revision + 1;
  const added = addedBy(entry, { parts, now: edit.now });
  const change = { parts, tokens: edit.tokens, edited_at: edit.now, changed_revision: revision, added };
  await shared.entries.rewrite(transaction, entry, change);
  const seqs = [entry.seq];
  await changeLayers(shared, transaction, { row, seqs, change: { stale: 1 } });
  await dropMemories(shared, transaction, { row, seqs });
  await removeQuotes(shared.engine, transaction, [row.id]);
  const isSummarised = entry.seq <= row.compacted_upto;
  const due = isSummarised ? dueAt(row, edit.now) : {};
  await shared.conversations.change(transaction, row.id, { ...changedIn(revision), ...due });
  return 'changed';
}

function addedBy(entry: EntryRow, edit: { readonly parts: string; readonly now: number }): string | null {
  const textIn = (parts: string) => textOfEverything({ parts: readParts(parts) });
  const known = readAdditions(entry.added);
  return writeAdditions(
    additionsAfter({ before: textIn(entry.parts), after: textIn(edit.parts), known, at: edit.now }),
  );
}
