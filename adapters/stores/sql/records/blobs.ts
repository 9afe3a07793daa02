import type { BlobId, BlobStore } from '../../../../src/adapter-kit.ts';
import { first, type SqlEngine, type Transaction } from '../query/engine.ts';
import type { Shared } from '../rows/shared.ts';

/** Maximum number that one transaction deletes, so that others do not wait long. */
const EXPIRED_AT_ONCE = 16;

export function createBlobs({ engine, soon }: Pick<Shared, 'engine' | 'soon'>): BlobStore {
  const { query } = engine;
  return {
    put: (blob) => engine.write((tx) => insertBlob(engine, tx, blob)),
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
    async expire(before) {
      const old = query.selectFrom('blob').select('id').where('created_at', '<', before).limit(EXPIRED_AT_ONCE);
      const expireSome = () =>
        engine.write(async (tx) => {
          const deleted = await tx.run(query.deleteFrom('blob').where('id', 'in', old).compile());
          if (deleted > 0) await engine.noteDeletion(tx);
          return deleted;
        });
      let count = 0;
      for (let some = await expireSome(); some > 0; some = await expireSome()) count += some;
      if (count > 0) await soon.run();
      return count;
    },
  };
}

/** One that exists already is equal. */
export async function insertBlob(
  { query }: Pick<SqlEngine, 'query'>,
  transaction: Transaction,
  { id, conversationId, text, now }: Parameters<BlobStore['put']>[0],
): Promise<void> {
  const insertion = query.insertInto('blob').values({ id, conversation_id: conversationId, text, created_at: now });
  await transaction.run(insertion.onConflict((conflict) => conflict.column('id').doNothing()).compile());
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
