import { type ConversationChange, depthOf } from '../../../../src/adapter-kit.ts';
import { changeAudience } from '../forgetting/privacy.ts';
import { redact } from '../forgetting/redaction.ts';
import type { Transaction } from '../query/engine.ts';
import { forgetAskers } from '../records/usage.ts';
import { dueAt } from '../rows/conversation-rows.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, EntryRow } from '../schema/tables.ts';

/** Limits of one transaction of an expiry; others wait for it. */
const EXPIRY_ROWS = 16;
const EXPIRY_CHARACTERS = 2_000;

export async function changeConversation(shared: Shared, id: number, change: ConversationChange): Promise<void> {
  const { engine, conversations, erasure } = shared;
  const withRow = <Result>(unit: (transaction: Transaction, row: ConversationRow) => Promise<Result>) =>
    engine.write(async (transaction) => {
      const row = await conversations.lock(transaction, id);
      return row === null ? null : await unit(transaction, row);
    });
  switch (change.kind) {
    case 'reset':
      await erasure.finish(await withRow((tx, row) => reset(shared, tx, row)));
      return shared.soon.run();
    case 'audience':
      if (await withRow((tx, { place }) => changeAudience(shared, tx, { ...change, place }))) await shared.soon.run();
      return;
    case 'maintain':
      return void (await withRow((tx, row) => conversations.change(tx, id, dueAt(row, change.at))));
    case 'purge':
      await erasure.finish(await withRow((tx, row) => erasure.begin(tx, row)));
      await engine.scrub();
      return;
    case 'end':
      await erasure.finish(await withRow(async (tx, row) => (depthOf(row.key) > 0 ? erasure.begin(tx, row) : [])));
      return shared.soon.run();
    case 'expire':
      return expire(shared, id, change);
    default:
      return change satisfies never;
  }
}

async function reset(
  { engine, conversations, ready, erasure }: Shared,
  transaction: Transaction,
  row: ConversationRow,
): Promise<readonly number[]> {
  await ready.clear(transaction, row.id);
  await engine.noteDeletion(transaction);
  const children = await erasure.beginChildren(transaction, row);
  await conversations.change(transaction, row.id, freshView(row));
  return children;
}

/** The view starts after the newest entry. Earlier messages are owed no reply, and running work is outdated. */
function freshView(row: ConversationRow) {
  return {
    context_from: row.next_seq,
    compacted_upto: row.next_seq - 1,
    answered_upto: Math.max(row.answered_upto, row.next_seq - 1),
    reply_epoch: row.reply_epoch + 1,
    reply_until: null,
    maintenance_epoch: row.maintenance_epoch + 1,
    maintenance_until: null,
    revision: row.revision + 1,
  };
}

async function expire(
  shared: Shared,
  id: number,
  { before, now }: Extract<ConversationChange, { kind: 'expire' }>,
): Promise<void> {
  const { engine } = shared;
  const old = engine.query
    .selectFrom('entry')
    .selectAll()
    .where('conversation_id', '=', id)
    .where('at', '<', before)
    .where('redacted_at', 'is', null)
    .orderBy('seq')
    .limit(EXPIRY_ROWS);
  const redactBatch = (afterSeq: number) =>
    engine.write(async (transaction) => {
      const row = await shared.conversations.lock(transaction, id);
      if (row === null) return null;
      const entries = firstOf(await transaction.rows(old.where('seq', '>', afterSeq).compile()));
      await redact(shared, transaction, { row, entries, now, dropMemories: true });
      return entries.at(-1)?.seq ?? null;
    });
  await engine.write((transaction) => forgetAskers(engine, transaction, { conversationId: id, before }));
  let redacted: number | null = null;
  for (let seq = await redactBatch(0); seq !== null; seq = await redactBatch(seq)) redacted = seq;
  if (redacted !== null) await engine.scrub();
}

/** The rows that one transaction redacts: at least one. */
function firstOf(rows: readonly EntryRow[]): readonly EntryRow[] {
  const chosen: EntryRow[] = [];
  let characters = 0;
  for (const row of rows) {
    chosen.push(row);
    characters += row.parts.length;
    if (characters > EXPIRY_CHARACTERS) break;
  }
  return chosen;
}
