import { StrataError } from '../../../src/adapter-kit.ts';
import type { SqlEngine, Statement, Transaction, Unit } from '../sql/index.ts';
import { explain, isConflict, isLost } from './failures.ts';
import type { Link, Links } from './links.ts';

/** Maximum attempts of one unit after conflicts; each time, another unit succeeded. */
const MAX_RUNS = 8;
const PAUSE_MS = 5;

export interface Units extends Pick<SqlEngine, 'read' | 'write'> {
  /** Resolves when everything submitted before has ended. Later units are rejected. */
  close(): Promise<void>;
}

/**
 * Reads see one snapshot. Writes lock the rows that they decide from. They are repeated after other conflicts, or if
 * the connection broke before anything was committed.
 */
export function createUnits(links: Links, place: string): Units {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  const submit = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed) throw new StrataError('STORE_UNUSABLE', { path: place, reason: 'it was closed' });
    const result = work();
    running.add(result);
    try {
      return await result;
    } catch (error) {
      throw explain(place, error);
    } finally {
      running.delete(result);
    }
  };
  return {
    read: (unit) => submit(() => repeated((run) => runRead(links, unit, run), { isOver: () => isClosed })),
    write: (unit) => submit(() => repeated((run) => runWrite(links, unit, run), { isOver: () => isClosed })),
    async close() {
      isClosed = true;
      await Promise.allSettled(running);
    },
  };
}

interface Run {
  /** Set once it may have been committed; it is not repeated then. */
  isEnding: boolean;
}

async function repeated<Result>(
  work: (run: Run) => Promise<Result>,
  { isOver }: { readonly isOver: () => boolean },
): Promise<Result> {
  let wasLost = false;
  for (let count = 1; ; count++) {
    const run = { isEnding: false };
    try {
      return await work(run);
    } catch (error) {
      const lost = isLost(error);
      const isHopeless = !(lost || isConflict(error)) || (lost && (wasLost || isOver())) || count === MAX_RUNS;
      if (isHopeless || run.isEnding) throw error;
      wasLost ||= lost;
      await pause(count);
    }
  }
}

function pause(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * PAUSE_MS * Math.random()));
}

const BEGIN_READ = 'start transaction isolation level repeatable read read only';
const BEGIN_WRITE = 'start transaction isolation level read committed';
const DURABLE = 'set local synchronous_commit = on';

async function runRead<Result>(links: Links, unit: Unit<Result>, _run: Run): Promise<Result> {
  const link = await links.connect();
  const value = await within(link, BEGIN_READ, unit);
  // There is nothing to lose, so the caller does not wait for the end.
  link.query('commit', []).then(
    () => link.release(false),
    () => link.release(true),
  );
  return value;
}

async function runWrite<Result>(links: Links, unit: Unit<Result>, run: Run): Promise<Result> {
  const link = await links.connect();
  const value = await within(link, BEGIN_WRITE, unit);
  run.isEnding = true;
  try {
    const { command } = await link.query('commit', []);
    // After such a failure, the server ends the transaction and reports nothing more.
    if (command === 'ROLLBACK') throw new Error('A unit continued after one of its statements had failed');
  } catch (error) {
    link.release(true);
    throw error;
  }
  link.release(false);
  return value;
}

/**
 * The first statements are sent together with the start. If the unit fails, everything is rolled back and the connection
 * returned.
 */
async function within<Result>(link: Link, begin: string, unit: Unit<Result>): Promise<Result> {
  const isDurable = begin !== BEGIN_WRITE || link.respondsEarly !== true;
  const begun = Promise.all([begin, ...(isDurable ? [] : [DURABLE])].map((sql) => link.query(sql, [])));
  begun.catch(() => undefined);
  try {
    const value = await unit(over(link));
    await begun;
    return value;
  } catch (error) {
    await link.query('rollback', []).then(
      () => link.release(false),
      () => link.release(true),
    );
    throw error;
  }
}

function over(link: Link): Transaction {
  const run = ({ sql, parameters }: Statement) => link.query(sql, parameters.map(storable));
  return {
    // The row's type comes from Kysely, derived from the tables and the query.
    rows: async <Row>(statement: Statement<Row>) => (await run(statement)).rows as readonly Row[],
    run: async (statement) => (await run(statement)).changes,
  };
}

/** Postgres cannot store the character U+0000; the replacement character is stored instead. */
function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
