import { sql } from 'kysely';
import { type ConversationKey, childRangeOf, type SummaryId } from '../../../../src/adapter-kit.ts';
import { PENDING } from '../query/conditions.ts';
import { first, type Parameter, prepare, type SqlEngine, type Transaction, together } from '../query/engine.ts';
import type { ConversationRow } from '../schema/tables.ts';
import { type ConversationRows, GONE } from './conversation-rows.ts';
import { indexed } from './entry-rows.ts';
import { removeMemories } from './memory-rows.ts';
import { removeValuesOf } from './platform-state.ts';
import { removeRequestParts } from './requests.ts';

/**
 * A conversation disappears in one short transaction, which takes its key away; its rows are deleted in the following
 * ones, between which other conversations go on. After a failure or a crash, the store deletes what is left later.
 */

/** Limits of one transaction; others wait for it. The index is changed at its end, in about 4 µs per character. */
const MAX_STEP_MS = 8;
const MAX_STEP_CHARACTERS = 2_000;
/** Rows of one statement, few where they may be large. */
const ROWS = { memory: 16, entry: 16, summary: 4, outbox: 100, blob: 2 } as const;

/** The character after `GONE`: all keys that begin with `GONE` sort before it. */
const AFTER_GONE = '!';

/** Hides the conversation: nothing finds it any more, and running work cannot lock its row to commit. */
async function hide(
  { engine, conversations }: Parts,
  transaction: Transaction,
  { id, key, place, revision }: ConversationRow,
): Promise<void> {
  const { query } = engine;
  const gone = `${GONE}${id}`;
  await engine.lockMemories(transaction);
  await engine.noteDeletion(transaction);
  const hidden = query.updateTable('memory').set({ place: gone, scope: 'place', audience: 'dm' });
  await transaction.run(hidden.where('id', 'in', memoriesOfAlone(query, id)).compile());
  const sources = query.deleteFrom('memory_source').where('conversation_id', '=', id);
  await transaction.run(sources.compile());
  const posts = query.deleteFrom('outbox').where('conversation_id', '=', id);
  await transaction.run(posts.where('state', '=', PENDING).compile());
  await removeValuesOf(engine, transaction, key);
  await conversations.change(transaction, id, {
    key: gone as ConversationKey,
    place: gone,
    next_seq: 1,
    revision: revision + 1,
    reply_due_seq: 0,
    answered_upto: 0,
    reply_until: null,
    maintenance_until: null,
    maintain_at: null,
    heard_id: null,
    heard_at: null,
    last_error: null,
  });
  await transaction.run(
    hidden
      .where('place', '=', place)
      .where('scope', '=', 'place')
      .where(({ not, exists }) => not(exists(query.selectFrom('conversation').select('id').where('place', '=', place))))
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('memory_source').select('seq').whereRef('memory_id', '=', 'memory.id'))),
      )
      .compile(),
  );
}

/** Memories captured only in this conversation. */
function memoriesOfAlone(query: SqlEngine['query'], conversationId: number) {
  const here = query.selectFrom('memory_source').select('memory_id').where('conversation_id', '=', conversationId);
  return here.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('memory_source as other')
          .select('other.seq')
          .whereRef('other.memory_id', '=', 'memory_source.memory_id')
          .where('other.conversation_id', '!=', conversationId),
      ),
    ),
  );
}

interface Parts {
  readonly engine: SqlEngine;
  readonly conversations: ConversationRows;
}

/** Deletes conversations with everything in them. */
export interface Erasure {
  /** Hides the conversation and its children. Returns those that `finish` has to delete. */
  begin(transaction: Transaction, row: ConversationRow): Promise<readonly number[]>;
  /** Hides only its children: what tools have opened inside it, in any depth. */
  beginChildren(transaction: Transaction, row: ConversationRow): Promise<readonly number[]>;
  /** Resolves when nothing of them is left. */
  finish(ids: readonly number[] | null): Promise<void>;
  /** Finishes what has failed, or what a process that died has begun. False if there was nothing. */
  resume(): Promise<boolean>;
}

export function createErasure(shared: Parts): Erasure {
  const { engine } = shared;
  const statements = prepareStatements(shared);
  const begin = async (tx: Transaction, rows: readonly ConversationRow[]) => {
    for (const row of rows) await hide(shared, tx, row);
    const isOver = createBudget();
    const left: number[] = [];
    // Most are small: one transaction deletes them.
    for (const { id } of rows) if (!(await removeSome({ engine, statements, tx, isOver }, id))) left.push(id);
    return left;
  };
  const step = (id: number) => engine.write((tx) => removeSome({ engine, statements, tx, isOver: createBudget() }, id));
  const finish: Erasure['finish'] = async (ids) => {
    for (const id of ids ?? []) while (!(await step(id)));
  };
  return {
    begin: async (tx, row) => begin(tx, [...(await childrenOf(engine, tx, row)), row]),
    beginChildren: async (tx, row) => begin(tx, await childrenOf(engine, tx, row)),
    finish,
    async resume() {
      const left = await engine.read((tx) => tx.rows(statements.left({})));
      await finish(left.map(({ id }) => id));
      return left.length > 0;
    },
  };
}

function childrenOf(
  { query }: SqlEngine,
  transaction: Transaction,
  { key }: ConversationRow,
): Promise<readonly ConversationRow[]> {
  const { from, to } = childRangeOf(key);
  const inside = query
    .selectFrom('conversation')
    .selectAll()
    .where('key', '>=', from as ConversationKey);
  return transaction.rows(
    inside
      .where('key', '<', to as ConversationKey)
      .orderBy('id')
      .compile(),
  );
}

interface Step {
  readonly engine: SqlEngine;
  readonly statements: ReturnType<typeof prepareStatements>;
  readonly tx: Transaction;
  /** Whether the transaction should end, after the index has lost a text. */
  readonly isOver: (text?: string) => boolean;
}

function createBudget(): Step['isOver'] {
  const endsAt = performance.now() + MAX_STEP_MS;
  let characters = 0;
  return (text = '') => {
    characters += text.length;
    return characters > MAX_STEP_CHARACTERS || performance.now() > endsAt;
  };
}

/** Each deletes some rows. False if there were none. */
const PARTS = [
  removeSomeMemories,
  removeSomeEntries,
  removeSomeSummaries,
  async ({ statements, tx }: Step, id: number) => (await tx.run(statements.outbox({ id }))) > 0,
  async ({ statements, tx }: Step, id: number) => (await tx.run(statements.blob({ id }))) > 0,
];

/** Deletes rows of the hidden conversation while the transaction may go on. True if nothing is left. */
async function removeSome(step: Step, id: number): Promise<boolean> {
  const { engine, statements, tx, isOver } = step;
  // Another process may have finished it.
  if ((await first(tx, statements.hidden({ id }))) === null) return true;
  await engine.noteDeletion(tx);
  for (const part of PARTS) {
    while (await part(step, id)) if (isOver()) return false;
  }
  await removeRequestParts(engine, tx, id);
  await tx.run(engine.query.deleteFrom('conversation').where('id', '=', id).compile());
  return true;
}

async function removeSomeMemories({ engine, statements, tx, isOver }: Step, id: number): Promise<boolean> {
  const rows = await tx.rows(statements.memories({ place: `${GONE}${id}` }));
  if (rows.length > 0) await engine.lockMemories(tx);
  for (const memory of rows) {
    await removeMemories(engine, tx, [memory.id]);
    if (isOver(memory.text)) break;
  }
  return rows.length > 0;
}

async function removeSomeEntries({ engine, statements, tx, isOver }: Step, id: number): Promise<boolean> {
  const chosen: { readonly seq: number; readonly before: string }[] = [];
  for (const { seq, ...row } of await tx.rows(statements.entries({ id }))) {
    const before = indexed(row);
    chosen.push({ seq, before });
    if (isOver(before)) break;
  }
  const last = chosen.at(-1);
  if (last === undefined) return false;
  await together([
    ...chosen.map((entry) => engine.index.entry(tx, { conversationId: id, after: '', ...entry })),
    tx.run(statements.dropEntries({ id, seq: last.seq })),
  ]);
  return true;
}

async function removeSomeSummaries({ engine, statements, tx, isOver }: Step, id: number): Promise<boolean> {
  const rows = await tx.rows(statements.summaries({ id }));
  for (const row of rows) {
    await engine.index.summary(tx, { conversationId: id, id: row.id, before: row.text, after: '' });
    await tx.run(statements.dropSummary({ id: row.id }));
    if (isOver(row.text)) break;
  }
  return rows.length > 0;
}

function prepareStatements({ engine: { query, rowLocks } }: Pick<Parts, 'engine'>) {
  const ofConversation = (p: Parameter<Numbered>) => sql<boolean>`conversation_id = ${p('id')}`;
  const hidden = query
    .selectFrom('conversation')
    .select('id')
    .where(sql<boolean>`key >= ${sql.lit(GONE)} and key < ${sql.lit(AFTER_GONE)}`);
  const some = (table: 'outbox' | 'blob') =>
    prepare((p: Parameter<Numbered>) =>
      query
        .deleteFrom(table)
        .where('id', 'in', query.selectFrom(table).select('id').where(ofConversation(p)).limit(sql.lit(ROWS[table]))),
    );
  return {
    left: prepare((_: Parameter<object>) => hidden.orderBy('id')),
    hidden: prepare((p: Parameter<Numbered>) =>
      hidden.where('id', '=', p('id')).$if(rowLocks, (select) => select.forUpdate()),
    ),
    memories: prepare((p: Parameter<{ place: string }>) =>
      query.selectFrom('memory').select(['id', 'text']).where('place', '=', p('place')).limit(sql.lit(ROWS.memory)),
    ),
    entries: prepare((p: Parameter<Numbered>) =>
      query
        .selectFrom('entry')
        .select(['seq', 'role', 'parts'])
        .where(ofConversation(p))
        .orderBy('seq')
        .limit(sql.lit(ROWS.entry)),
    ),
    dropEntries: prepare((p: Parameter<Numbered & { seq: number }>) =>
      query.deleteFrom('entry').where('conversation_id', '=', p('id')).where('seq', '<=', p('seq')),
    ),
    summaries: prepare((p: Parameter<Numbered>) =>
      query.selectFrom('summary').select(['id', 'text']).where(ofConversation(p)).limit(sql.lit(ROWS.summary)),
    ),
    dropSummary: prepare((p: Parameter<{ id: SummaryId }>) => query.deleteFrom('summary').where('id', '=', p('id'))),
    outbox: some('outbox'),
    blob: some('blob'),
  };
}

interface Numbered {
  readonly id: number;
}
