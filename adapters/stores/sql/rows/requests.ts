import type { RequestLog, RequestPart } from '../../../../src/adapter-kit.ts';
import { type Parameter, prepare, type SqlEngine, type Transaction, together } from '../query/engine.ts';

export function createRequestLog(engine: SqlEngine): RequestLog {
  const { query } = engine;
  const ofConversation = (conversationId: number) =>
    query.selectFrom('entry').where('conversation_id', '=', conversationId);
  return {
    notes: (conversationId, { toSeq, limit, fromSeq = 1 }) =>
      engine.read(async (tx) => {
        const within = ofConversation(conversationId).where('seq', '>=', fromSeq).where('seq', '<=', toSeq);
        const noted = within.where('request', 'is not', null);
        const newest = noted.select(['seq', 'turn', 'at', 'request']).orderBy('seq', 'desc').limit(limit);
        const rows = await tx.rows(newest.compile());
        return rows.map(({ seq, turn, at, request }) => ({ seq, turn: turn ?? seq, at, note: request ?? '' }));
      }),
    parts: (hashes) =>
      engine.read(async (tx) => {
        if (hashes.length === 0) return new Map();
        const rows = await tx.rows(query.selectFrom('request_part').selectAll().where('hash', 'in', hashes).compile());
        return new Map(rows.map(({ hash, text }) => [hash, text]));
      }),
    changedSince: (conversationId, { fromSeq, toSeq, revision }) =>
      engine.read(async (tx) => {
        const within = ofConversation(conversationId).where('seq', '>=', fromSeq).where('seq', '<=', toSeq);
        const changed = within.where('changed_revision', '>', revision).select('seq').orderBy('seq');
        return (await tx.rows(changed.compile())).map(({ seq }) => seq);
      }),
  };
}

export type AddRequestParts = (
  transaction: Transaction,
  conversationId: number,
  parts: readonly RequestPart[],
) => Promise<unknown>;

/** Stores each text once, and that the conversation needs it. */
export function createAddRequestParts({ query, rowLocks }: SqlEngine): AddRequestParts {
  const addPart = prepare((p: Parameter<RequestPart>) =>
    query
      .insertInto('request_part')
      .values({ hash: p('hash'), text: p('text') })
      .onConflict((conflict) => conflict.column('hash').doNothing()),
  );
  const addLink = prepare((p: Parameter<{ conversationId: number; hash: string }>) =>
    query
      .insertInto('request_link')
      .values({ conversation_id: p('conversationId'), hash: p('hash') })
      .onConflict((conflict) => conflict.columns(['conversation_id', 'hash']).doNothing()),
  );
  const add = (transaction: Transaction, conversationId: number, parts: readonly RequestPart[]) =>
    together(
      parts.flatMap(({ hash, text }) => [
        transaction.run(addPart({ hash, text })),
        transaction.run(addLink({ conversationId, hash })),
      ]),
    );
  return async (transaction, conversationId, parts) => {
    // In one order everywhere, so that two transactions never wait for each other.
    let missing = parts.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
    while (missing.length > 0) {
      await add(transaction, conversationId, missing);
      if (!rowLocks) return;
      // A text that was stored before may be deleted until it is held: the deletion does not see the new link yet.
      const held = await transaction.rows(holdParts(query, hashesOf(missing)));
      missing = missing.filter(({ hash }) => !held.some((one) => one.hash === hash));
    }
  };
}

function hashesOf(parts: readonly RequestPart[]): readonly string[] {
  return parts.map(({ hash }) => hash);
}

function holdParts(query: SqlEngine['query'], hashes: readonly string[]) {
  const held = query.selectFrom('request_part').select('hash').where('hash', 'in', hashes).orderBy('hash');
  return held.forKeyShare().compile();
}

/** Deletes the texts that only this conversation needs. Called before the conversation itself is deleted. */
export async function removeRequestParts(
  { query, rowLocks }: Pick<SqlEngine, 'query' | 'rowLocks'>,
  transaction: Transaction,
  conversationId: number,
): Promise<void> {
  const here = query.selectFrom('request_link').select('hash').where('conversation_id', '=', conversationId);
  // Waits for turns that are about to need one of them, so that the next statement sees their links.
  const own = query.selectFrom('request_part').select('hash').where('hash', 'in', here).orderBy('hash');
  if (rowLocks) await transaction.rows(own.forUpdate().compile());
  const unused = query
    .deleteFrom('request_part')
    .where('hash', 'in', here)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('request_link')
            .select('hash')
            .whereRef('request_link.hash', '=', 'request_part.hash')
            .where('conversation_id', '!=', conversationId),
        ),
      ),
    );
  await transaction.run(unused.compile());
}
