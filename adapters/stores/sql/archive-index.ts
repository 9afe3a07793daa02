import { z } from 'zod';
import { type ArchiveRow, type MemoryId, ROLES } from '../../../src/index.ts';
import type { SqlEngine, Transaction } from './engine.ts';
import { indexed } from './entry-rows.ts';

const entry = z.object({ conversation_id: z.number(), seq: z.number(), role: z.enum(ROLES), parts: z.string() });
const summary = z.object({ id: z.string(), conversation_id: z.number(), text: z.string() });
const memory = z.object({
  id: z.custom<MemoryId>((value) => typeof value === 'string'),
  text: z.string(),
  workspace: z.string(),
});

/** Builds the full-text index of rows that came from an archive. */
export async function indexArchived(
  { index }: SqlEngine,
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
