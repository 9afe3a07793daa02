import { type Kysely, sql } from 'kysely';
import { coalesce, type Tables } from '../sql/index.ts';
import { explain } from './failures.ts';

/** Tables with text of people, or words of it. */
const TABLES = [
  'conversation',
  'conversation_state',
  'maintenance_run',
  'last_request',
  'entry',
  'summary',
  'ready_summary',
  'memory',
  'memory_event',
  'held',
  'outbox',
  'blob',
  'entry_index',
  'summary_index',
  'memory_index',
];

/**
 * Frees the space of deleted rows at once instead of waiting for autovacuum. A table that the server is already vacuuming
 * is left to it.
 */
export function createScrub(upkeep: Kysely<Tables>, place: string): () => Promise<null> {
  const statement = sql`vacuum (skip_locked, truncate off) ${sql.join(TABLES.map((name) => sql.table(name)))}`;
  const vacuum = coalesce(() => statement.execute(upkeep));
  return async () => {
    try {
      await vacuum();
      return null;
    } catch (error) {
      throw explain(place, error);
    }
  };
}
