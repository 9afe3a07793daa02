import { type ConversationChange, type ConversationKey, childRangeOf, depthOf } from '../../../src/adapter-kit.ts';
import { dueAt } from './conversation-rows.ts';
import type { Transaction } from './engine.ts';
import { indexed } from './entry-rows.ts';
import { removeMemories } from './memory-rows.ts';
import { changeAudience } from './privacy.ts';
import { redact } from './redaction.ts';
import { removeRequestParts } from './requests.ts';
import type { Shared } from './shared.ts';
import type { ConversationRow } from './tables.ts';
import { forgetAskers } from './usage.ts';

/** Entries redacted per transaction during expiry, so that other work does not wait long. */
const EXPIRY_BATCH = 200;

export async function changeConversation(shared: Shared, id: number, change: ConversationChange): Promise<void> {
  const { engine, conversations, ready } = shared;
  const withRow = (unit: (transaction: Transaction, row: ConversationRow) => Promise<void>) =>
    engine.write(async (transaction) => {
      const row = await conversations.lock(transaction, id);
      if (row !== null) await unit(transaction, row);
    });
  switch (change.kind) {
    case 'reset':
      await withRow(async (tx, row) => {
        await ready.clear(tx, id);
        await engine.noteDeletion(tx);
        await purgeChildren(shared, tx, row);
        await conversations.change(tx, id, freshView(row));
      });
      return shared.soon.run();
    case 'audience':
      return withRow((tx, { place }) => changeAudience(shared, tx, { ...change, place }));
    case 'maintain':
      return withRow((tx, row) => conversations.change(tx, id, dueAt(row, change.at)));
    case 'purge':
      await withRow((tx, row) => purge(shared, tx, row));
      await engine.scrub();
      return;
    case 'end':
      await withRow((tx, row) => (depthOf(row.key) > 0 ? purge(shared, tx, row) : Promise.resolve()));
      return shared.soon.run();
    case 'expire':
      return expire(shared, id, change);
    default:
      return change satisfies never;
  }
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

/** What tools have opened inside the conversation, in any depth. */
async function purgeChildren(shared: Shared, transaction: Transaction, { key }: ConversationRow): Promise<void> {
  const { from, to } = childRangeOf(key);
  const inside = shared.engine.query
    .selectFrom('conversation')
    .selectAll()
    .where('key', '>=', from as ConversationKey);
  const children = await transaction.rows(
    inside
      .where('key', '<', to as ConversationKey)
      .orderBy('id')
      .compile(),
  );
  for (const child of children) await purgeOne(shared, transaction, child);
}

async function purge(shared: Shared, transaction: Transaction, row: ConversationRow): Promise<void> {
  await purgeChildren(shared, transaction, row);
  await purgeOne(shared, transaction, row);
}

async function purgeOne(
  { engine, entries, summaries }: Shared,
  transaction: Transaction,
  row: ConversationRow,
): Promise<void> {
  const { query, index } = engine;
  const everything = { conversationId: row.id, fromSeq: 1, toSeq: row.next_seq };
  await engine.lockMemories(transaction);
  await engine.noteDeletion(transaction);
  await removeMemories(engine, transaction, await memoriesOfAlone(engine, transaction, row.id));
  for (const entry of await entries.oldest(transaction, { ...everything, limit: row.next_seq })) {
    await index.entry(transaction, { conversationId: row.id, seq: entry.seq, before: indexed(entry), after: '' });
  }
  for (const summary of await summaries.covering(transaction, everything)) {
    await summaries.remove(transaction, summary);
  }
  await removeRequestParts(engine, transaction, row.id);
  await transaction.run(query.deleteFrom('conversation').where('id', '=', row.id).compile());
  await removeMemories(engine, transaction, await memoriesLeftIn(engine, transaction, row.place));
}

/**
 * With the last conversation of a place, memories saved there by request are deleted too, because they have no messages
 * as sources.
 */
async function memoriesLeftIn({ query }: Shared['engine'], transaction: Transaction, place: string) {
  const others = query.selectFrom('conversation').select('id').where('place', '=', place).limit(1);
  if ((await transaction.rows(others.compile())).length > 0) return [];
  const sourced = query.selectFrom('memory_source').select('memory_id');
  const left = query.selectFrom('memory').select('id').where('place', '=', place).where('scope', '=', 'place');
  return (await transaction.rows(left.where('id', 'not in', sourced).compile())).map((memory) => memory.id);
}

/** Memories captured only in this conversation. */
async function memoriesOfAlone({ query }: Shared['engine'], transaction: Transaction, conversationId: number) {
  const here = query.selectFrom('memory_source').select('memory_id').where('conversation_id', '=', conversationId);
  const alone = here.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('memory_source as other')
          .select('other.seq')
          .whereRef('other.memory_id', '=', 'memory_source.memory_id')
          .where('other.conversation_id', '!=', conversationId),
      ),
    ),
  );
  const rows = await transaction.rows(alone.compile());
  return [...new Set(rows.map((row) => row.memory_id))];
}

async function expire(
  shared: Shared,
  id: number,
  { before, now }: Extract<ConversationChange, { kind: 'expire' }>,
): Promise<void> {
  const old = shared.engine.query
    .selectFrom('entry')
    .selectAll()
    .where('conversation_id', '=', id)
    .where('at', '<', before)
    .where('redacted_at', 'is', null)
    .orderBy('seq')
    .limit(EXPIRY_BATCH)
    .compile();
  const redactBatch = () =>
    shared.engine.write(async (transaction) => {
      const row = await shared.conversations.lock(transaction, id);
      if (row === null) return 0;
      const entries = await transaction.rows(old);
      return (await redact(shared, transaction, { row, entries, now, dropMemories: true })).length;
    });
  await shared.engine.write((transaction) => forgetAskers(shared.engine, transaction, { conversationId: id, before }));
  let total = 0;
  for (let count = await redactBatch(); count > 0; count = await redactBatch()) total += count;
  if (total > 0) await shared.engine.scrub();
}
