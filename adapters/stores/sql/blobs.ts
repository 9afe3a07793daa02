import type { BlobStore } from '../../../src/adapter-kit.ts';
import { first, type SqlEngine } from './engine.ts';

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
    expire: (before) =>
      engine.write((tx) => tx.run(query.deleteFrom('blob').where('created_at', '<', before).compile())),
  };
}
