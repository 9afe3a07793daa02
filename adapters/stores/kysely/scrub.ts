import { type Kysely, sql } from 'kysely';
import { describe } from '../../../src/adapter-kit.ts';
import type { SqlEngine, Tables } from '../sql/index.ts';
import type { Units } from './units.ts';

/**
 * Deleted text is overwritten where it was stored; a write-ahead log still has a copy until it is written back. Copies of
 * moved rows in the unused space of pages stay: no statement reaches them but `vacuum`, which rewrites the whole database.
 */
export function createScrub(query: Kysely<Tables>, units: Units): SqlEngine['scrub'] {
  const writeBack = sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.compile(query);
  return async () => {
    try {
      const { rows } = await units.alone(() => query.executeQuery(writeBack));
      if (rows.every(({ busy }) => busy === 0)) return null;
      return 'The write-ahead log of the database still contains it, because another program is reading it.';
    } catch (error) {
      return `The database may still contain it: ${describe(error)}`;
    }
  };
}
