import type { BlobId, BlobStore } from '../../../src/adapter-kit.ts';
import { first, type SqlEngine, type Transaction } from './engine.ts';

export function createBlobs(engine: SqlEngine): BlobStore {
  const { query } = engine;
  return {
    async put({ id, conversationId, text, now }) {
      const row = { id, conversation_id: conversationId, text, created_at: now };
      const insertion = query
        .insertInto('blob')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing());
      await engine.write((tx) => tx.run(insertion.compile()));
    },
    read: (id, { conversationId, from, length }) =>
      engine.read(async (tx) => {
        const own = query.selectFrom('blob').select('text').where('id', '=', id);
        const row = await first(tx, own.where('conversation_id', '=', conversationId).compile());
        if (row === null) return null;
        return { text: row.text.slice(from, from + length), totalLength: row.text.length };
      }),
    list: (conversationId, { since, after, limit }) =>
      engine.read((tx) => {
        const own = query.selectFrom('blob').select(['id', 'created_at as createdAt']);
        const later = own.where('conversation_id', '=', conversationId).where('created_at', '>=', since);
        const page = after === null ? later : later.where('id', '>', after);
        return tx.rows(page.orderBy('id').limit(limit).compile());
      }),
    expire: (before) =>
      engine.write((tx) => tx.run(query.deleteFrom('blob').where('created_at', '<', before).compile())),
  };
}

/** Blobs of other conversations stay. */
export async function removeBlobs(
  { query }: Pick<SqlEngine, 'query'>,
  transaction: Transaction,
  { conversationId, ids }: { readonly conversationId: number; readonly ids: readonly BlobId[] },
): Promise<void> {
  if (ids.length === 0) return;
  const own = query.deleteFrom('blob').where('conversation_id', '=', conversationId);
  await transaction.run(own.where('id', 'in', ids).compile());
}
