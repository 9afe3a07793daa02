import type { Kysely } from 'kysely';
import { z } from 'zod';
import { type ArchiveRow, type MemoryId, ROLES } from '../../../../src/adapter-kit.ts';
import type { TextIndex, Transaction } from '../query/engine.ts';
import { pagesOfTable } from '../query/table-pages.ts';
import { indexed } from '../rows/entry-rows.ts';
import type { Tables } from '../schema/tables.ts';

const entry = z.object({ conversation_id: z.number(), seq: z.number(), role: z.enum(ROLES), parts: z.string() });
const summary = z.object({ id: z.string(), conversation_id: z.number(), text: z.string() });
const memory = z.object({
  id: z.custom<MemoryId>((value) => typeof value === 'string'),
  text: z.string(),
  workspace: z.string(),
});

/** Rebuilds the empty index, because the way in which words are created has changed. */
export async function indexAll({
  query,
  index,
  transaction,
}: {
  readonly query: Kysely<Tables>;
  readonly index: TextIndex;
  /** The transaction of the migration. */
  readonly transaction: Transaction;
}): Promise<void> {
  for (const { table, key } of INDEXED) {
    for await (const rows of pagesOfTable(query, transaction, { table, key })) {
      await indexArchived({ index }, transaction, { table, rows });
    }
  }
}

const INDEXED = [
  { table: 'entry', key: ['conversation_id', 'seq'] },
  { table: 'summary', key: ['id'] },
  { table: 'memory', key: ['id'] },
];

/** The transaction of a migration. */
export function transactionOf(query: Kysely<Tables>): Transaction {
  return {
    rows: async (statement) => (await query.executeQuery(statement)).rows,
    run: async (statement) => Number((await query.executeQuery(statement)).numAffectedRows ?? 0n),
  };
}

/** Builds the full-text index of rows from an archive. */
export async function indexArchived(
  { index }: { readonly index: TextIndex },
  transaction: Transaction,
  { table, rows }: { readonly table: string; readonly rows: readonly ArchiveRow[] },
): Promise<void> {
  for (const row of rows) {
    if (table === 'entry') {
      const { conversation_id: conversationId, seq, role, parts } = entry.parse(row);
      const after = indexed({ role, parts });
      if (after !== '') await index.entry(transaction, { conversationId, seq, before: '', after });
    } else if (table === 'summary') {
      const { id, conversation_id: conversationId, text } = summary.parse(row);
      if (text !== '') await index.summary(transaction, { conversationId, id, before: '', after: text });
    } else if (table === 'memory') {
      await index.memory(transaction, null, memory.parse(row));
    }
  }
}
