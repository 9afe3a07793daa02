import type { Pool, PoolClient } from 'pg';
import pg from 'pg';
import { createGate } from './gate.ts';

/** A connection, lent to one unit at a time. Statements can be sent before earlier ones have returned. */
export interface Link {
  query(sql: string, parameters: readonly unknown[]): Promise<LinkResult>;
  /** A connection in an unknown state is not reused. */
  release(isBroken: boolean): void;
}

export interface LinkResult {
  readonly rows: readonly unknown[];
  readonly changes: number;
  readonly command: string;
}

export interface Links {
  connect(): Promise<Link>;
  end(): Promise<void>;
}

/**
 * Connections are created on demand and replaced when they break. Waiting for a free one happens in a queue here,
 * because the pool would count the wait against its connection timeout.
 */
export function createLinks(pool: Pool, connections: number): Links {
  const gate = createGate(connections);
  return {
    async connect() {
      const leave = await gate.enter();
      try {
        return lend(await pool.connect(), leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
    end: () => pool.end(),
  };
}

function lend(client: PoolClient, leave: () => void): Link {
  let isBroken = false;
  const onError = () => {
    isBroken = true;
  };
  client.on('error', onError);
  return {
    async query(sql, parameters) {
      try {
        const { rows, rowCount, command } = await client.query<Record<string, unknown>>(sql, [...parameters]);
        return { rows, changes: rowCount ?? 0, command };
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) isBroken = true;
        throw error;
      }
    },
    release(isUnknown) {
      client.off('error', onError);
      client.release(isBroken || isUnknown);
      leave();
    },
  };
}
