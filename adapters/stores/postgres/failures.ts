import { describe, errorCode, networkRemedy, StrataError } from '../../../src/adapter-kit.ts';

/** Classifies failures of a statement or its connection. Pure. */

/** The maximum that one process may open. */
export const MAX_CONNECTIONS = 9;
/** What to do about a server that only reads. */
export const WRITABLE =
  'Connect to the primary server, or set default_transaction_read_only to off for the database and the user';

const MORE_CONNECTIONS = `Raise max_connections or the connection limit of the database or the user; a process needs ${MAX_CONNECTIONS}`;

/** Two transactions conflicted. The later one is run again and sees the result of the earlier one. */
const CONFLICTS: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // waited longer for a lock than the server allows
  '72000', // its snapshot is too old
  '23505', // another process inserted the row
  '23503', // the referenced row is gone
]);

/** The server is stopping, starting, or unreachable, or has ended an idle connection. */
const LOST_CODE =
  /^(08...|57P0[1-5]|25P0[34]|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
const LOST_MESSAGE =
  /^(Connection terminated|Connection ended|Client has encountered|timeout (exceeded|expired)|Query read timeout)/;

interface Cause {
  readonly code: RegExp;
  readonly reason: string;
  readonly remedy: string;
  readonly isDamage?: true;
}

/** A pooler, such as PgBouncer, reports everything with the same code. */
const POOLERS: readonly (Omit<Cause, 'code'> & { readonly message: RegExp })[] = [
  {
    message: /statement pooling mode/,
    reason: 'PgBouncer is in statement mode, which has no transactions',
    remedy: 'Set its pool_mode for this database to transaction or session',
  },
  {
    message: /^unsupported startup parameter/,
    reason: 'a connection pooler refuses a parameter of the URL',
    remedy: 'Remove that parameter. Instead of search_path in options: alter role NAME set search_path = SCHEMA',
  },
  {
    message: /^(no such database|no such user|SASL authentication failed|password authentication failed|auth failed)/,
    reason: 'a connection pooler refused the login',
    remedy: 'Correct the user, the password and the database in the URL, or add them to the pooler',
  },
];

const CAUSES: readonly Cause[] = [
  {
    code: /^28/,
    reason: 'the server refused the login',
    remedy: 'Correct the user and the password in the URL, or admit the user in pg_hba.conf',
  },
  {
    code: /^3D000$/,
    reason: 'the database does not exist',
    remedy: 'Create it, or correct its name at the end of the URL',
  },
  {
    code: /^55000$/,
    reason: 'the database is not ready',
    remedy: 'If someone closed it: alter database NAME allow_connections true',
  },
  {
    code: /^3F000$/,
    reason: 'there is no schema for the tables',
    remedy: "Create the schema in the user's search_path",
  },
  {
    code: /^42501$/,
    reason: 'the user lacks a permission',
    remedy: 'Make the user the owner of the database, or grant the permission',
  },
  {
    code: /^57014$/,
    reason: 'the server cancelled a statement',
    remedy: 'See whether a transaction of another program blocks it for long: pg_stat_activity lists them',
  },
  {
    code: /^(40...|55P03|72000)$/,
    reason: 'other work on the server prevented it',
    remedy: 'If this happens often, look for long transactions of other programs: pg_stat_activity lists them',
  },
  {
    code: /^42P01$/,
    reason: 'a table is missing',
    remedy: "Another program dropped it, or the user's search_path changed: correct that, or restore a backup",
  },
  { code: /^53200$/, reason: 'the server is out of memory', remedy: 'Give it more memory, or lower its work_mem' },
  { code: /^53100$/, reason: 'the disk of the server is full', remedy: 'Free some space on the server' },
  { code: /^53/, reason: 'the server has reached a limit', remedy: 'Raise that limit in its configuration' },
  { code: /^25006$/, reason: 'the server accepts no writes', remedy: WRITABLE },
  {
    code: /^XX00[12]$/,
    reason: 'the data is damaged',
    remedy: "Look into the server's log, and restore a backup into another database",
    isDamage: true,
  },
  { code: /^(58|XX)/, reason: 'the server failed', remedy: "Look into the server's log" },
];

const PROTOCOL = '08P01';
/** The server has no connection left for this process. */
const CROWDED = '53300';
/** After a failover, the server may accept writes again while the connection does not. */
const READ_ONLY = '25006';

export function isCrowded(error: unknown): boolean {
  return errorCode(error) === CROWDED;
}

export function isReadOnly(error: unknown): boolean {
  return errorCode(error) === READ_ONLY;
}

/** A table, index or type of that name exists already. */
export function isTaken(error: unknown): boolean {
  return /^42(P07|710)$/.test(errorCode(error));
}

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(errorCode(error));
}

export function isLost(error: unknown): boolean {
  return LOST_CODE.test(errorCode(error)) || (error instanceof Error && LOST_MESSAGE.test(error.message));
}

/**
 * One sentence for failures that a person can fix or wait for; any other error is unexpected and returned unchanged.
 * `remedy`: if the server cannot be reached and nothing connects again.
 */
export function explain(place: string, error: unknown, remedy?: string): unknown {
  const pooler = POOLERS.find(({ message }) => errorCode(error) === PROTOCOL && message.test(describe(error)));
  if (pooler !== undefined) return unusable(place, error, pooler);
  if (isLost(error)) {
    const data = { path: place, reason: detailOf(error), ...(remedy === undefined ? {} : { remedy }) };
    return new StrataError('STORE_UNREACHABLE', data, { cause: error });
  }
  if (isCrowded(error)) {
    const reason = `the server has no free connection (${detailOf(error)})`;
    const data = { path: place, reason, remedy: MORE_CONNECTIONS };
    return new StrataError('STORE_UNREACHABLE', data, { cause: error });
  }
  const known = CAUSES.find(({ code }) => code.test(errorCode(error))) ?? ofTls(error);
  return known === null ? error : unusable(place, error, known);
}

function ofTls(error: unknown): Omit<Cause, 'code'> | null {
  const remedy = NO_TLS.test(describe(error)) ? WITHOUT_TLS : networkRemedy(error);
  return remedy === null ? null : { reason: 'there is no secure connection to the server', remedy };
}

const NO_TLS = /server does not support SSL/;
const WITHOUT_TLS = 'Set sslmode=disable in the URL if the network is trusted, or enable TLS on the server';

function unusable(path: string, error: unknown, { reason, remedy, isDamage }: Omit<Cause, 'code'>): StrataError {
  const facts = { path, reason: `${reason} (${detailOf(error)})`, remedy };
  return new StrataError(
    'STORE_UNUSABLE',
    { ...facts, ...(isDamage === true && { isDamaged: true }) },
    { cause: error },
  );
}

function detailOf(error: unknown): string {
  return describe(error) || errorCode(error);
}
