import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Statement, Transaction, Unit } from '../sql/index.ts';
import type { Connection } from './connection.ts';

/** Units of one transaction: enough to share the cost of a disk write, few enough to keep everyone's wait short. */
const MAX_GROUP = 256;
/** Whoever holds the file for longer does not write, but hangs. */
const BUSY_LIMIT_MS = 10_000;
const MAX_PAUSE_MS = 8;
/** A group that has worked for so long lets the rest of the process run before it goes on. */
const MAX_STRETCH_MS = 10;

export interface GroupCommit {
  read<Result>(unit: Unit<Result>): Promise<Result>;
  write<Result>(unit: Unit<Result>): Promise<Result>;
  /** Runs what needs the connection outside of a transaction, after all that was submitted before. */
  alone<Result>(work: () => Result): Promise<Result>;
  /** Resolves when all that was submitted before has ended. Later units are refused. */
  close(): Promise<void>;
}

interface Pending {
  readonly kind: 'read' | 'write' | 'alone';
  /** Runs the unit and keeps its result until the group is durable. */
  run(transaction: Transaction): Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * One connection, used by one group of units at a time. All units that are waiting when a group begins share its
 * transaction and its disk write. When one of them fails, the group is undone and each unit is run by itself, so that
 * an error touches only the unit that made it.
 */
export function createGroupCommit(connection: Connection): GroupCommit {
  const transaction = createTransaction(connection);
  let waiting: Pending[] = [];
  let isRunning = false;
  let isClosed = false;

  const submit = <Result>(unit: Unit<Result>, kind: Pending['kind']): Promise<Result> => {
    if (isClosed) return Promise.reject(connection.closedError());
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let result: { readonly value: Result } | null = null;
    waiting.push({
      kind,
      async run(open) {
        result = { value: await unit(open) };
      },
      resolve: () => result !== null && resolve(result.value),
      reject,
    });
    schedule();
    return promise;
  };
  // After the events of this turn of the loop: what they submit together is written together.
  const schedule = () => {
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => runGroup().then(next, next));
  };
  const next = () => {
    isRunning = false;
    if (waiting.length > 0) schedule();
  };
  const runGroup = async () => {
    const group = takeGroup(waiting);
    waiting = waiting.slice(group.length);
    if (group[0]?.kind === 'alone') return runAlone(connection, transaction, group[0]);
    if (await commitTogether(connection, transaction, group)) return;
    for (const unit of group) await commitAlone(connection, transaction, unit);
  };
  return {
    read: (unit) => submit(unit, 'read'),
    write: (unit) => submit(unit, 'write'),
    alone: (work) => submit(async () => work(), 'alone'),
    close() {
      const ended = submit(async () => {}, 'read');
      isClosed = true;
      return ended;
    },
  };
}

/** The units at the head of the line that can share a transaction, or one that must be alone. */
function takeGroup(waiting: readonly Pending[]): readonly Pending[] {
  const barrier = waiting.findIndex((unit) => unit.kind === 'alone');
  if (barrier === 0) return waiting.slice(0, 1);
  return waiting.slice(0, barrier < 0 ? MAX_GROUP : Math.min(barrier, MAX_GROUP));
}

/** False when a unit failed: then each of them is to be run by itself. */
async function commitTogether(
  connection: Connection,
  transaction: Transaction,
  group: readonly Pending[],
): Promise<boolean> {
  try {
    await commitUnits(connection, transaction, group);
  } catch (error) {
    // Waiting once more for each unit would make the last one wait for all of them.
    if (connection.isBusy(error)) for (const unit of group) unit.reject(connection.explain(error));
    return connection.isBusy(error);
  }
  for (const unit of group) unit.resolve();
  return true;
}

async function commitAlone(connection: Connection, transaction: Transaction, unit: Pending): Promise<void> {
  try {
    await commitUnits(connection, transaction, [unit]);
  } catch (error) {
    unit.reject(connection.explain(error));
    return;
  }
  unit.resolve();
}

/** Waits for the turn of this process where others use the file, without holding up what else it does. */
async function commitUnits(connection: Connection, transaction: Transaction, units: readonly Pending[]): Promise<void> {
  const deadline = performance.now() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      let resumedAt = performance.now();
      connection.begin(units.some((unit) => unit.kind === 'write') ? 'write' : 'read');
      for (const unit of units) {
        await unit.run(transaction);
        resumedAt = await letOthersRun(resumedAt);
      }
      return connection.commit();
    } catch (error) {
      connection.rollback();
      if (!connection.isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(1 + Math.random() * MAX_PAUSE_MS);
  }
}

/** Nobody else uses the connection in between: what is submitted then waits for its own group. */
async function letOthersRun(resumedAt: number): Promise<number> {
  if (performance.now() - resumedAt < MAX_STRETCH_MS) return resumedAt;
  await nextTurn();
  return performance.now();
}

async function runAlone(connection: Connection, transaction: Transaction, unit: Pending): Promise<void> {
  try {
    await unit.run(transaction);
    unit.resolve();
  } catch (error) {
    unit.reject(connection.explain(error));
  }
}

/** What runs on the connection's open transaction. */
export function createTransaction(connection: Connection): Transaction {
  return {
    rows: async <Row>(statement: Statement<Row>) => connection.rows(statement),
    run: async (statement) => connection.run(statement),
  };
}
