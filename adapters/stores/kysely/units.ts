import type { Kysely } from 'kysely';
import { createLanes, StrataError } from '../../../src/adapter-kit.ts';
import type { Tables, Transaction, Unit } from '../sql/index.ts';
import { explain } from './failures.ts';

export interface Units {
  /** Runs a unit in a transaction of its own, after all units before it. */
  run<Result>(unit: Unit<Result>): Promise<Result>;
  /** Runs work outside a transaction, after all units before it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when everything submitted before has ended and the database is closed. Later units are rejected. */
  close(): Promise<void>;
}

/** One unit at a time, because many dialects have one connection and no queue for it. */
export function createUnits(query: Kysely<Tables>, place: string): Units {
  const lanes = createLanes();
  let closing: Promise<void> | null = null;
  const alone = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (closing === null) return lanes.run([''], () => explained(place, work));
    return Promise.reject(new StrataError('STORE_UNUSABLE', { path: place, reason: 'it was closed' }));
  };
  return {
    alone,
    run: (unit) => alone(() => query.transaction().execute((transaction) => inOrder(transaction, unit))),
    close() {
      closing ??= lanes.drained().then(() => query.destroy());
      return closing;
    },
  };
}

async function explained<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw explain(place, error);
  }
}

/**
 * The next statement is sent when the one before has returned. After one that fails, the others fail too. The transaction
 * ends when none is left.
 */
async function inOrder<Result>(open: Kysely<Tables>, unit: Unit<Result>): Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  const send: Send = (statement) => {
    const sent = last.then(() => open.executeQuery(statement));
    last = sent;
    sent.catch(() => undefined);
    return sent;
  };
  try {
    const result = await unit(transactionOf(send));
    await last;
    return result;
  } finally {
    await last.catch(() => undefined);
  }
}

type Send = Kysely<Tables>['executeQuery'];

function transactionOf(send: Send): Transaction {
  return {
    rows: async (statement) => (await send(statement)).rows,
    run: async (statement) => Number((await send(statement)).numAffectedRows ?? 0n),
  };
}
