import { AUDIENCES } from '../../../src/index.ts';
import type { SqlEngine, Transaction } from './engine.ts';
import type { ConversationRow } from './tables.ts';

/** A place turned more private: what was captured there, and its other threads, may be no looser. Never the reverse. */
export async function tightenPlace(
  engine: SqlEngine,
  transaction: Transaction,
  { place, audience }: Pick<ConversationRow, 'place' | 'audience'>,
): Promise<void> {
  const looser = AUDIENCES.slice(AUDIENCES.indexOf(audience) + 1);
  if (looser.length === 0) return;
  const { query } = engine;
  const conversations = query.updateTable('conversation').set({ audience }).where('place', '=', place);
  await transaction.run(conversations.where('audience', 'in', looser).compile());
  // What is being saved at this moment either sees the place as it is now, or is seen here.
  await engine.lockMemories(transaction);
  const memories = query.updateTable('memory').set({ audience }).where('place', '=', place);
  await transaction.run(memories.where('audience', 'in', looser).compile());
}
