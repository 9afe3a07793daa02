import { type ExpressionBuilder, sql } from 'kysely';
import { type Audience, looserThan, tighterThan } from '../../../../src/adapter-kit.ts';
import { PENDING } from '../query/conditions.ts';
import type { Transaction } from '../query/engine.ts';
import type { Shared } from '../rows/shared.ts';
import type { Tables } from '../schema/tables.ts';
import { withdrawReplies } from './withdrawal.ts';

export interface AudienceChange {
  readonly place: string;
  readonly audience: Audience;
  /** The caller changes this conversation itself. */
  readonly exceptId?: number;
  readonly now: number;
}

/**
 * The audience of a place changes. What was captured there, and its other threads, gets no wider audience than the
 * place ever had; a place that opens is read with its new audience, but reveals nothing captured before. Replies that
 * may contain what their readers must not see any more are written again. Returns whether text was deleted.
 */
export async function changeAudience(
  shared: Shared,
  transaction: Transaction,
  change: AudienceChange,
): Promise<boolean> {
  const { engine } = shared;
  const { place, audience, exceptId = -1, now } = change;
  const { query } = engine;
  const isDeleted = await withdrawReplies(shared, transaction, {
    ids: await exposed(shared, transaction, change),
    now,
  });
  const present = query
    .updateTable('conversation')
    .set({ present_audience: audience, present_from: sql<number>`next_seq` })
    .where('place', '=', place)
    .where('id', '!=', exceptId)
    .where(presentAudience, '!=', audience);
  await transaction.run(present.compile());
  const looser = looserThan(audience);
  if (looser.length === 0) return isDeleted;
  const conversations = query.updateTable('conversation').set({ audience }).where('place', '=', place);
  await transaction.run(conversations.where('audience', 'in', looser).compile());
  // Concurrent writes either see the changed place, or are seen here.
  await engine.lockMemories(transaction);
  const memories = query.updateTable('memory').set({ audience }).where('place', '=', place);
  await transaction.run(memories.where('audience', 'in', looser).compile());
  return isDeleted;
}

const presentAudience = sql<Audience>`coalesce(present_audience, audience)`;

/**
 * Conversations with a running or unposted reply: those of the place if it opens, and others that were given memories
 * of the place if it closes.
 */
async function exposed(
  { engine }: Shared,
  transaction: Transaction,
  { place, audience, exceptId = -1 }: AudienceChange,
): Promise<readonly number[]> {
  const { query } = engine;
  const [tighter, looser] = [tighterThan(audience), looserThan(audience)];
  const readers = query
    .selectFrom('memory_reading')
    .innerJoin('memory', 'memory.id', 'memory_reading.memory_id')
    .select('memory_reading.conversation_id')
    .where('memory.place', '=', place);
  const isExposed = (where: ExpressionBuilder<Tables, 'conversation'>) =>
    where.or([
      ...(tighter.length === 0
        ? []
        : [
            where.and([where('place', '=', place), where(presentAudience, 'in', tighter), where('id', '!=', exceptId)]),
          ]),
      ...(looser.length === 0 ? [] : [where('id', 'in', readers.where('memory.audience', 'in', looser))]),
    ]);
  const unsent = query.selectFrom('outbox').select('outbox.conversation_id').where('state', '=', PENDING);
  const found = query
    .selectFrom('conversation')
    .select('id')
    .where(isExposed)
    .where((where) => where.or([where('reply_until', 'is not', null), where('id', 'in', unsent)]))
    .orderBy('id');
  return (await transaction.rows(found.compile())).map(({ id }) => id);
}
