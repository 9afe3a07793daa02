import { type OutboxStore, POST_HOLD_MS } from '../../../../src/adapter-kit.ts';
import { PENDING } from '../query/conditions.ts';
import { type Parameter, prepare, type SqlEngine } from '../query/engine.ts';
import { isOf, whereFree } from '../rows/conversation-rows.ts';
import { toPost } from '../rows/domain-objects.ts';
import type { OutboxRow } from '../schema/tables.ts';

export function createOutbox(engine: SqlEngine): OutboxStore {
  const statements = prepareStatements(engine);
  return {
    pending: (conversationId) =>
      engine.read(async (tx) => {
        const statement = conversationId === null ? statements.allPending({}) : statements.pending({ conversationId });
        return (await tx.rows(statement)).map(toPost);
      }),
    take: ({ platform, now, limit }) =>
      engine.write(async (tx) => {
        const rows = await tx.rows(takeFree(engine, { platform, now, limit }));
        return rows.map(toPost).sort((a, b) => a.id - b.id);
      }),
    async hold(conversationIds, now) {
      const held = engine.query
        .updateTable('outbox')
        .set({ held_until: now + POST_HOLD_MS })
        .where('conversation_id', 'in', conversationIds)
        .where('state', '=', PENDING);
      await engine.write((tx) => tx.run(held.compile()));
    },
    async attempt(id, reason) {
      await engine.write((tx) => tx.run(statements.attempt({ id, reason })));
    },
    async sent(id, messageId) {
      const { durable } = await engine.writeAhead((tx) => tx.run(statements.sent({ id, messageId })));
      await Promise.all([durable, engine.rest()]);
    },
    async failed(id, reason) {
      await engine.write((tx) => tx.run(statements.failed({ id, reason })));
    },
  };
}

/** The condition is repeated: of two concurrent takers, the second one finds the row taken. */
function takeFree(
  { query }: SqlEngine,
  { platform, now, limit }: { readonly platform: string; readonly now: number; readonly limit: number },
) {
  const free = query
    .selectFrom('outbox')
    .innerJoin('conversation', 'conversation.id', 'outbox.conversation_id')
    .select('outbox.id')
    .where('outbox.state', '=', PENDING)
    .where(whereFree('outbox.held_until', now))
    .where(isOf(platform))
    .orderBy('outbox.id')
    .limit(limit);
  return query
    .updateTable('outbox')
    .set({ held_until: now + POST_HOLD_MS })
    .where('id', 'in', free)
    .where('state', '=', PENDING)
    .where(whereFree('outbox.held_until', now))
    .returningAll()
    .compile();
}

function prepareStatements({ query }: SqlEngine) {
  const pending = query.selectFrom('outbox').selectAll().where('state', '=', PENDING).orderBy('id');
  const ended = query.updateTable('outbox').set({ body: null });
  return {
    allPending: prepare((_: Parameter<object>) => pending),
    pending: prepare((p: Parameter<{ conversationId: number }>) =>
      pending.where('conversation_id', '=', p('conversationId')),
    ),
    attempt: prepare((p: Parameter<Pick<OutboxRow, 'id' | 'reason'>>) =>
      query
        .updateTable('outbox')
        .set((set) => ({ attempts: set('attempts', '+', 1), reason: p('reason') }))
        .where('id', '=', p('id')),
    ),
    sent: prepare((p: Parameter<{ id: number; messageId: string }>) =>
      ended.set({ state: 'sent', platform_message_id: p('messageId') }).where('id', '=', p('id')),
    ),
    failed: prepare((p: Parameter<{ id: number; reason: string }>) =>
      ended.set({ state: 'failed', reason: p('reason') }).where('id', '=', p('id')),
    ),
  };
}
