import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import type { StoreOptions } from '../../../src/bot/adapters.ts';

/** Changes the row of a conversation through a separate connection, bypassing the store. */
export type Rewind = (conversationId: number, values: Readonly<Record<string, number>>) => Promise<void>;

const TRIES = 100;

/**
 * Simulates a store without compare-and-set: after a refused commit, the row is reset to what the job had read, and the
 * commit is repeated. The product has no such switch.
 */
export function createRewinder({ url, directory }: Pick<StoreOptions, 'url' | 'directory'>): Rewind {
  return url === '' ? rewindSqlite(join(directory, 'strata.db')) : rewindPostgres(url);
}

function rewindSqlite(file: string): Rewind {
  return async (conversationId, values) => {
    const statement = `update conversation set ${assignments(values)} where id = ${conversationId}`;
    for (let tries = 1; ; tries += 1) {
      const database = new Database(file, { timeout: 0 });
      try {
        database.exec(statement);
        return;
      } catch (error) {
        if (tries === TRIES) throw error;
      } finally {
        database.close();
      }
      await sleep(10);
    }
  };
}

function rewindPostgres(url: string): Rewind {
  return async (conversationId, values) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(`update conversation set ${assignments(values)} where id = ${conversationId}`);
    } finally {
      await client.end();
    }
  };
}

function assignments(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ');
}
