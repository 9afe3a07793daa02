import type { Pool, PoolClient } from 'pg';
import pg from 'pg';
import { type Crowd, createCrowd } from './crowd.ts';
import { isReadOnly } from './failures.ts';
import { createGate } from './gate.ts';
import { respondsEarly } from './pool.ts';
import type { Pulse } from './pulse.ts';

/** A connection, lent to one unit at a time. Statements can be sent before earlier ones have returned. */
export interface Link {
  /** Each transaction that writes must ask for a durable commit. */
  readonly respondsEarly?: boolean;
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
export function createLinks({
  pool,
  connections,
  pulse,
}: {
  readonly pool: Pool;
  readonly connections: number;
  readonly pulse: Pulse;
}): Links {
  const gate = createGate(connections);
  const crowd = createCrowd(() => pool.connect());
  return {
    async connect() {
      const leave = await gate.enter();
      try {
        await pulse.ready();
        return lend(await crowd.connect(), { leave, pulse, crowd });
      } catch (error) {
        leave();
        throw error;
      }
    },
    async end() {
      pulse.close();
      await pool.end();
    },
  };
}

interface Loan {
  readonly leave: () => void;
  readonly pulse: Pulse;
  readonly crowd: Crowd;
}

function lend(client: PoolClient, { leave, pulse, crowd }: Loan): Link {
  let isBroken = false;
  const onError = () => {
    isBroken = true;
  };
  client.on('error', onError);
  return {
    respondsEarly: respondsEarly(client),
    async query(sql, parameters) {
      try {
        const sent = client.query<Record<string, unknown>>(sql, [...parameters]);
        const { rows, rowCount, command } = await pulse.follow(sent);
        return { rows, changes: rowCount ?? 0, command };
      } catch (error) {
        if (!(error instanceof pg.DatabaseError) || isReadOnly(error)) isBroken = true;
        throw error;
      }
    },
    release(isUnknown) {
      client.off('error', onError);
      client.release(isBroken || isUnknown);
      crowd.freed();
      leave();
    },
  };
}
