import { sql } from 'kysely';
import {
  type HeldDecision,
  type HeldQuery,
  type HeldSentence,
  type Part,
  type SentenceRemoval,
  sentencesLike,
} from '../../../../src/adapter-kit.ts';
import { first, type Transaction } from '../query/engine.ts';
import { readParts, writeJson } from '../query/json.ts';
import { asGap } from '../records/summaries.ts';
import { dueAt, isKept } from '../rows/conversation-rows.ts';
import { removeQuotes } from '../rows/conversation-state.ts';
import { toAuthor } from '../rows/domain-objects.ts';
import type { Shared } from '../rows/shared.ts';
import type { ConversationRow, EntryRow, HeldRow } from '../schema/tables.ts';
import { changedIn, changeLayers, withoutReader } from './redaction.ts';
import { noteStruck, replaceIn, STRUCK } from './struck.ts';

/** Replaces a hidden sentence in a text. The random id keeps the placeholder from being imitated. */
function markOf(id: string): string {
  return `(held back: ${id})`;
}

interface Removal {
  readonly row: ConversationRow;
  readonly removals: readonly SentenceRemoval[];
  readonly now: number;
}

/** Removes sentences from messages, from the index, and from the layers above. The rest of the text stays. */
export async function removeSentences(shared: Shared, transaction: Transaction, removal: Removal): Promise<void> {
  const { row, removals, now } = removal;
  const revision = row.revision + 1;
  const seqs: number[] = [];
  for (const { seq, kind, sentences, about } of removals) {
    const [entry] = await shared.entries.pick(transaction, row.id, [seq]);
    if (entry === undefined || entry.role !== 'user' || entry.redacted_at !== null) continue;
    let parts = readParts(entry.parts);
    for (const { id, text } of sentences) {
      if (!holds(parts, text)) continue;
      parts = replaceIn(parts, text, kind === 'hold' ? markOf(id) : STRUCK);
      const held = { id, conversation_id: row.id, seq, text, about_id: about.id, about_name: about.name, at: now };
      if (kind === 'hold') await insertHeld(shared, transaction, held);
      else await noteStruck(shared, transaction, { row, seq, text, now });
      if (!seqs.includes(seq)) seqs.push(seq);
    }
    const change = { parts: writeJson(parts), changed_revision: revision };
    if (change.parts !== entry.parts) await shared.entries.rewrite(transaction, entry, change);
  }
  if (seqs.length === 0) return;
  await shared.engine.noteDeletion(transaction);
  await changeLayers(shared, transaction, { row, seqs, change: asGap });
  await removeQuotes(shared.engine, transaction, [row.id]);
  const changes = { ...changedIn(revision), ...withoutReader(row), ...dueAt(row, now) };
  await shared.conversations.change(transaction, row.id, changes);
}

/**
 * The new text of an edited message, without the sentences held in it, also if their case, spacing or punctuation changed.
 * Sentences that are gone are no longer held.
 */
export async function withoutHeld(
  { engine }: Shared,
  transaction: Transaction,
  { entry, parts }: { readonly entry: EntryRow; readonly parts: readonly Part[] },
): Promise<readonly Part[]> {
  const { query } = engine;
  let left = parts;
  for (const held of await heldIn(query, transaction, entry)) {
    const found = left.flatMap((part) => (part.kind === 'text' ? sentencesLike(part.text, held.text) : []));
    const [written] = holds(left, held.text) ? [held.text, ...found] : found;
    if (written === undefined) await transaction.run(query.deleteFrom('held').where('id', '=', held.id).compile());
    else if (written !== held.text)
      await transaction.run(query.updateTable('held').set({ text: written }).where('id', '=', held.id).compile());
    for (const sentence of [held.text, ...found]) left = replaceIn(left, sentence, markOf(held.id));
  }
  return left;
}

/** Restores the sentence, or deletes it permanently. Null if the place does not hold it. */
export async function decideHeld(
  shared: Shared,
  transaction: Transaction,
  decision: HeldDecision,
): Promise<HeldSentence | null> {
  const { query } = shared.engine;
  const held = await first(transaction, query.selectFrom('held').selectAll().where('id', '=', decision.id).compile());
  const row = held === null ? null : await shared.conversations.lock(transaction, held.conversation_id);
  if (held === null || row === null || row.place !== decision.place) return null;
  const [entry] = await shared.entries.pick(transaction, row.id, [held.seq]);
  if (entry === undefined) return null;
  await transaction.run(query.deleteFrom('held').where('id', '=', held.id).compile());
  if (decision.kind === 'strike') {
    await shared.engine.noteDeletion(transaction);
    await noteStruck(shared, transaction, { row, seq: held.seq, text: held.text, now: decision.now });
  }
  const text = decision.kind === 'release' ? held.text : STRUCK;
  const parts = writeJson(replaceIn(readParts(entry.parts), markOf(held.id), text));
  const revision = row.revision + 1;
  await shared.entries.rewrite(transaction, entry, { parts, changed_revision: revision });
  await changeLayers(shared, transaction, { row, seqs: [held.seq], change: { stale: 1 } });
  await shared.conversations.change(transaction, row.id, { revision, ...dueAt(row, decision.now) });
  return toHeld(held, row, entry);
}

/** The sentences held in a place, oldest first. */
export async function listHeld(
  { engine: { query } }: Pick<Shared, 'engine'>,
  transaction: Transaction,
  { place, limit, after }: HeldQuery,
): Promise<readonly HeldSentence[]> {
  const all = query
    .selectFrom('held')
    .innerJoin('conversation', 'conversation.id', 'held.conversation_id')
    .innerJoin('entry', (join) =>
      join.onRef('entry.conversation_id', '=', 'held.conversation_id').onRef('entry.seq', '=', 'held.seq'),
    )
    .selectAll('held')
    .select(['conversation.key', 'entry.author_id', 'entry.author_name', 'entry.author_kind'])
    .where('conversation.place', '=', place)
    .where(isKept);
  const rest = after === null ? all : all.where(sql<boolean>`(held.at, held.id) > (${after.at}, ${after.id})`);
  const page = rest.orderBy('held.at').orderBy('held.id').limit(limit);
  return (await transaction.rows(page.compile())).map((row) => toHeld(row, row, row));
}

function heldIn(query: Shared['engine']['query'], transaction: Transaction, entry: EntryRow) {
  const own = query.selectFrom('held').selectAll().where('conversation_id', '=', entry.conversation_id);
  return transaction.rows<HeldRow>(own.where('seq', '=', entry.seq).orderBy('id').compile());
}

async function insertHeld({ engine }: Shared, transaction: Transaction, held: HeldRow): Promise<void> {
  await transaction.run(engine.query.insertInto('held').values(held).compile());
}

function holds(parts: readonly Part[], text: string): boolean {
  return text !== '' && parts.some((part) => part.kind === 'text' && part.text.includes(text));
}

function toHeld(
  held: HeldRow,
  { key }: Pick<ConversationRow, 'key'>,
  author: Parameters<typeof toAuthor>[0],
): HeldSentence {
  return {
    id: held.id,
    conversation: key,
    seq: held.seq,
    author: toAuthor(author),
    text: held.text,
    about: { id: held.about_id, name: held.about_name },
    at: held.at,
  };
}
