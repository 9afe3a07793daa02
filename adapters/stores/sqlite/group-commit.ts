import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Statement, Transaction, Unit } from '../sql/index.ts';
import type { Connection } from './connection.ts';

/** Units per transaction: enough to share the cost of a disk write, few enough to keep everybody's wait short. */
const MAX_GROUP = 256;
/** A process that holds the file for longer has hung. */
const BUSY_LIMIT_MS = 10_000;
const MAX_PAUSE_MS = 8;
/** After working for this long, a group yields to the rest of the process. */
const MAX_STRETCH_MS = 10;

export interface GroupCommit {
  read<Result>(unit: Unit<Result>): Promise<Result>;
  write<Result>(unit: Unit<Result>): Promise<Result>;
  /**
   * For work that can be repeated: does not wait for the disk, so a power failure may undo it. The next `write` waits
   * for it too.
   */
  writeLazily<Result>(unit: Unit<Result>): Promise<Result>;
  /** Runs work that needs the connection outside a transaction, after everything submitted before. */
  alone<Result>(work: () => Result): Promise<Result>;
  /** Resolves when everything submitted before has ended. Later units are rejected. */
  close(): Promise<void>;
}

interface Pending {
  readonly kind: 'read' | 'write' | 'lazy' | 'alone';
  /** Runs the unit and keeps its result until the group is durable. */
  run(transaction: Transaction): Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * One connection, used by one group of units at a time. All units that wait when a group starts share its transaction
 * and its disk write. If one of them fails, the group is rolled back and each unit runs separately, so that an error
 * affects only its own unit.
 */
export function createGroupCommit(connection: Connection): GroupCommit {
  const transaction = createTransaction(connection);
  const parts: Parts = { connection, transaction, more: () => takeReads(), again: (units) => putBack(units) };
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
  // After the current events of the loop, so that everything they submit is written together.
  const schedule = () => {
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => runGroup().then(next, next));
  };
  const next = () => {
    isRunning = false;
    if (waiting.length > 0) schedule();
  };
  const take = () => {
    const group = takeGroup(waiting);
    waiting = waiting.slice(group.length);
    return group;
  };
  const putBack = (units: readonly Pending[]) => {
    waiting = [...units, ...waiting];
  };
  const takeReads = () => (waiting.every(isRead) ? take() : []);
  const runGroup = async () => {
    const group = take();
    if (group[0]?.kind === 'alone') return runAlone(parts, group[0]);
    if (await commitTogether(parts, group)) return;
    for (const unit of group) await commitAlone(parts, unit);
  };
  return {
    read: (unit) => submit(unit, 'read'),
    write: (unit) => submit(unit, 'write'),
    writeLazily: (unit) => submit(unit, 'lazy'),
    alone: (work) => submit(async () => work(), 'alone'),
    close() {
      const ended = submit(async () => {}, 'read');
      isClosed = true;
      return ended;
    },
  };
}

/** The first units in the queue that can share a transaction, or one that must run alone. */
function takeGroup(waiting: readonly Pending[]): readonly Pending[] {
  const barrier = waiting.findIndex((unit) => unit.kind === 'alone');
  if (barrier === 0) return waiting.slice(0, 1);
  return waiting.slice(0, barrier < 0 ? MAX_GROUP : Math.min(barrier, MAX_GROUP));
}

interface Parts {
  readonly connection: Connection;
  readonly transaction: Transaction;
  /** The units that wait, if they are only reads. */
  more(): readonly Pending[];
  /** Runs the units before all others that wait. */
  again(units: readonly Pending[]): void;
}

/** False if a unit failed; then each is run separately. */
async function commitTogether(parts: Parts, group: readonly Pending[]): Promise<boolean> {
  const { connection } = parts;
  try {
    await commitUnits(parts, group);
  } catch (error) {
    // Yielding for each unit would make the last one wait for all of them.
    if (connection.isBusy(error)) for (const unit of group) unit.reject(connection.explain(error));
    return connection.isBusy(error);
  }
  for (const unit of group) unit.resolve();
  return true;
}

async function commitAlone(parts: Parts, unit: Pending): Promise<void> {
  try {
    await commitUnits(parts, [unit]);
  } catch (error) {
    unit.reject(parts.connection.explain(error));
    return;
  }
  unit.resolve();
}

/** Waits for the file if other processes use it, without blocking the event loop. */
async function commitUnits(parts: Parts, units: readonly Pending[]): Promise<void> {
  const { connection, transaction } = parts;
  const deadline = performance.now() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      const startedAt = performance.now();
      let resumedAt = startedAt;
      begin(connection, units);
      for (const unit of units) {
        await unit.run(transaction);
        resumedAt = await letOthersRun(resumedAt);
      }
      if (resumedAt === startedAt && units.every(isRead)) await readOn(parts, units, startedAt);
      return connection.commit();
    } catch (error) {
      connection.rollback();
      if (!connection.isBusy(error) || performance.now() > deadline) throw error;
    }
    await sleep(1 + Math.random() * MAX_PAUSE_MS);
  }
}

function begin(connection: Connection, units: readonly Pending[]): void {
  const isReading = units.every(isRead);
  if (!isReading) connection.sync(units.some((unit) => unit.kind === 'write'));
  connection.begin(isReading ? 'read' : 'write');
}

function isRead({ kind }: Pending): boolean {
  return kind === 'read';
}

/**
 * Reads that follow from finished ones share their snapshot, because a transaction of its own costs as much as a small
 * read. No event of the loop comes in between, so no message can tell of a commit that the snapshot misses.
 */
async function readOn(parts: Parts, ended: readonly Pending[], startedAt: number): Promise<void> {
  for (const unit of ended) unit.resolve();
  for (let units = ended; units.length > 0; ) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (performance.now() - startedAt > MAX_STRETCH_MS) return;
    units = parts.more();
    if (!(await readEach(parts, units))) return;
  }
}

/** False if one failed; it and those after it run in a transaction of their own. */
async function readEach({ transaction, again }: Parts, units: readonly Pending[]): Promise<boolean> {
  for (const [index, unit] of units.entries()) {
    try {
      await unit.run(transaction);
    } catch {
      again(units.slice(index));
      return false;
    }
    unit.resolve();
  }
  return true;
}

/** Nothing else uses the connection in between; new submissions wait for their own group. */
async function letOthersRun(resumedAt: number): Promise<number> {
  if (performance.now() - resumedAt < MAX_STRETCH_MS) return resumedAt;
  await nextTurn();
  return performance.now();
}

async function runAlone({ connection, transaction }: Parts, unit: Pending): Promise<void> {
  try {
    await unit.run(transaction);
    unit.resolve();
  } catch (error) {
    unit.reject(connection.explain(error));
  }
}

/** The statements of the connection's open transaction. */
export function createTransaction(connection: Connection): Transaction {
  return {
    rows: async <Row>(statement: Statement<Row>) => connection.rows(statement),
    run: async (statement) => connection.run(statement),
  };
}
