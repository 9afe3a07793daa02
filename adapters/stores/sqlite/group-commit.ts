import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Statement, Transaction, Unit, Written } from '../sql/index.ts';
import type { Connection } from './connection.ts';
import { createSharedFlush } from './shared-flush.ts';

/** Units per transaction: enough to share the cost of a disk write, few enough to keep everybody's wait short. */
const MAX_GROUP = 256;
/** A process that holds the file for longer has hung. */
const BUSY_LIMIT_MS = 10_000;
const MAX_PAUSE_MS = 8;
/** After working for this long, a group yields to the rest of the process, between two statements. */
const MAX_STRETCH_MS = 10;

export interface GroupCommit {
  read<Result>(unit: Unit<Result>): Promise<Result>;
  /** Resolves when the changes are on the disk. */
  write<Result>(unit: Unit<Result>): Promise<Result>;
  /**
   * Resolves as soon as later units see the changes. They go to the disk with those of the next write, or two milliseconds
   * later.
   */
  writeAhead<Result>(unit: Unit<Result>): Promise<Written<Result>>;
  /**
   * For work that can be repeated. Does not wait for the disk, so a power failure may undo it until a later `write` has
   * resolved.
   */
  writeLazily<Result>(unit: Unit<Result>): Promise<Result>;
  /** Runs work that needs the connection outside a transaction, after everything submitted before. */
  alone<Result>(work: () => Result): Promise<Result>;
  /** Resolves when everything submitted before has ended. Later units are rejected. */
  close(): Promise<void>;
}

interface Pending {
  readonly kind: 'read' | 'write' | 'alone';
  /** Runs the unit and keeps its result until the group is committed. */
  run(transaction: Transaction): Promise<void>;
  committed(): void;
  reject(error: unknown): void;
}

/**
 * One connection, used by one group of units at a time. All units that wait when a group starts share its transaction.
 * During the disk write, the next groups run, and everything that they commit shares the next disk write. If a unit
 * fails, the group is rolled back and each unit runs separately, so that an error affects only its own unit.
 */
export function createGroupCommit(connection: Connection): GroupCommit {
  const queue = createQueue(connection);
  const flush = createSharedFlush(connection.log);
  let isClosed = false;
  const submit = <Result, Given>(
    unit: Unit<Result>,
    kind: Pending['kind'],
    give: (result: Result) => Given | Promise<Given>,
  ): Promise<Given> => {
    if (isClosed) return Promise.reject(connection.closedError());
    const { promise, resolve, reject } = Promise.withResolvers<Given>();
    let result: { readonly value: Result } | null = null;
    queue.add({
      kind,
      async run(open) {
        result = { value: await unit(open) };
      },
      committed: () => result !== null && resolve(give(result.value)),
      reject,
    });
    return promise;
  };
  const itself = <Result>(result: Result) => result;
  return {
    read: (unit) => submit(unit, 'read', itself),
    write: (unit) => submit(unit, 'write', (result) => flush.now().then(() => result)),
    writeAhead: (unit) => submit(unit, 'write', (result) => ({ result, durable: awaitable(flush.soon()) })),
    writeLazily: (unit) => submit(unit, 'write', itself),
    alone: (work) => submit(async () => work(), 'alone', itself),
    close() {
      // Not in a transaction, which another process may prevent.
      const ended = submit<void, void>(async () => {}, 'alone', flush.settled);
      isClosed = true;
      return ended;
    },
  };
}

/** Runs one group at a time. Units that arrive meanwhile wait for the next one. */
function createQueue(connection: Connection) {
  let waiting: Pending[] = [];
  let isRunning = false;
  const runGroup = async () => {
    const group = takeGroup(waiting);
    waiting = waiting.slice(group.length);
    if (group[0]?.kind === 'alone') return runAlone(connection, group[0]);
    if (await commitTogether(connection, group)) return;
    for (const unit of group) await commitAlone(connection, unit);
  };
  const next = () => {
    isRunning = false;
    if (waiting.length > 0) schedule();
  };
  // After the current events of the loop, so that everything they submit is written together.
  const schedule = () => {
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => runGroup().then(next, next));
  };
  return {
    add(unit: Pending) {
      waiting.push(unit);
      schedule();
    },
  };
}

/** Prevents an unhandled rejection. Callers that await the promise still see the failure. */
function awaitable(durable: Promise<void>): Promise<void> {
  durable.catch(() => undefined);
  return durable;
}

/** The first units in the queue that can share a transaction, or one that must run alone. */
function takeGroup(waiting: readonly Pending[]): readonly Pending[] {
  const barrier = waiting.findIndex((unit) => unit.kind === 'alone');
  if (barrier === 0) return waiting.slice(0, 1);
  return waiting.slice(0, barrier < 0 ? MAX_GROUP : Math.min(barrier, MAX_GROUP));
}

/** False if a unit failed; then each is run separately. */
async function commitTogether(connection: Connection, group: readonly Pending[]): Promise<boolean> {
  try {
    await commitUnits(connection, group);
  } catch (error) {
    // Yielding for each unit would make the last one wait for all of them.
    if (connection.isBusy(error)) for (const unit of group) unit.reject(connection.explain(error));
    return connection.isBusy(error);
  }
  for (const unit of group) unit.committed();
  return true;
}

async function commitAlone(connection: Connection, unit: Pending): Promise<void> {
  try {
    await commitUnits(connection, [unit]);
  } catch (error) {
    unit.reject(connection.explain(error));
    return;
  }
  unit.committed();
}

/** Waits for the file if other processes use it, without blocking the event loop. */
async function commitUnits(connection: Connection, units: readonly Pending[]): Promise<void> {
  const deadline = performance.now() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      begin(connection, units);
      const transaction = createYieldingTransaction(connection);
      for (const unit of units) await unit.run(transaction);
      return connection.commit();
    } catch (error) {
      connection.rollback();
      if (!connection.isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(1 + Math.random() * MAX_PAUSE_MS);
  }
}

function begin(connection: Connection, units: readonly Pending[]): void {
  const isRead = units.every((unit) => unit.kind === 'read');
  connection.begin(isRead ? 'read' : 'write');
}

async function runAlone(connection: Connection, unit: Pending): Promise<void> {
  try {
    await unit.run(createTransaction(connection));
    unit.committed();
  } catch (error) {
    unit.reject(connection.explain(error));
  }
}

/**
 * Statements run when they are called; only their results may come later. Nothing else uses the connection in between,
 * because new submissions wait for their own group.
 */
function createYieldingTransaction(connection: Connection): Transaction {
  let resumedAt = performance.now();
  const rest = async () => {
    await nextTurn();
    resumedAt = performance.now();
  };
  const isLong = () => performance.now() - resumedAt > MAX_STRETCH_MS;
  return {
    async rows<Row>(statement: Statement<Row>) {
      const rows = connection.rows(statement);
      if (isLong()) await rest();
      return rows;
    },
    async run(statement) {
      const changes = connection.run(statement);
      if (isLong()) await rest();
      return changes;
    },
  };
}

/** The statements of the connection's open transaction. */
export function createTransaction(connection: Connection): Transaction {
  return {
    rows: async <Row>(statement: Statement<Row>) => connection.rows(statement),
    run: async (statement) => connection.run(statement),
  };
}
