import { type Kysely, sql } from 'kysely';
import type { Tables } from '../sql/index.ts';
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
 * Frees the space of deleted rows at once instead of waiting for autovacuum. Calls during a run share the next one. A
 * table that the server is already vacuuming is left to it.
 */
export function createScrub(upkeep: Kysely<Tables>, place: string): () => Promise<null> {
  const statement = sql`vacuum (skip_locked, truncate off) ${sql.join(TABLES.map((name) => sql.table(name)))}`;
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | null = null;
  const run = async () => {
    await running.catch(() => undefined);
    next = null;
    running = statement.execute(upkeep);
    await running;
  };
  return async () => {
    next ??= run();
    try {
      await next;
      return null;
    } catch (error) {
      throw explain(place, error);
    }
  };
}
