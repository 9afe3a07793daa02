import { sql } from 'kysely';
import { AUDIENCES, type Audience } from '../../../src/adapter-kit.ts';
import type { SqlEngine, Transaction } from './engine.ts';
import type { ConversationRow } from './tables.ts';

/** Who can read a conversation now. */
export function presentOf(row: Pick<ConversationRow, 'audience' | 'present_audience'>): Audience {
  return row.present_audience ?? row.audience;
}

/**
 * A place has another audience from now on. What was captured there, and its other threads, may be no wider than it ever
 * was; a place that opens is read with its new audience and opens nothing that was captured before.
 */
export async function changeAudience(
  engine: SqlEngine,
  transaction: Transaction,
  change: { readonly place: string; readonly audience: Audience; readonly exceptId?: number },
): Promise<void> {
  const { place, audience, exceptId = -1 } = change;
  const { query } = engine;
  const present = query
    .updateTable('conversation')
    .set({ present_audience: audience, present_from: sql<number>`next_seq` })
    .where('place', '=', place)
    .where('id', '!=', exceptId)
    .where(sql<Audience>`coalesce(present_audience, audience)`, '!=', audience);
  await transaction.run(present.compile());
  const looser = AUDIENCES.slice(AUDIENCES.indexOf(audience) + 1);
  if (looser.length === 0) return;
  const conversations = query.updateTable('conversation').set({ audience }).where('place', '=', place);
  await transaction.run(conversations.where('audience', 'in', looser).compile());
  // What is being saved at this moment either sees the place as it is now, or is seen here.
  await engine.lockMemories(transaction);
  const memories = query.updateTable('memory').set({ audience }).where('place', '=', place);
  await transaction.run(memories.where('audience', 'in', looser).compile());
}
