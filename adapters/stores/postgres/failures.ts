import { describe, StrataError } from '../../../src/adapter-kit.ts';

/** Classifies failures of a statement or its connection. Pure. */

/** Two transactions conflicted. The later one is run again and sees the result of the earlier one. */
const CONFLICTS: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '23505', // another process inserted the row
  '23503', // the referenced row is gone
]);

/** The server is stopping, starting, or unreachable. */
const LOST_CODE =
  /^(08...|57P0[1-4]|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
const LOST_MESSAGE =
  /^(Connection terminated|Connection ended|Client has encountered|timeout (exceeded|expired)|Query read timeout)/;

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'the server refused the login'],
  [/^3D000$/, 'the database does not exist'],
  [/^3F000$/, 'there is no schema for the tables'],
  [/^42501$/, 'the user lacks a permission'],
  [/^53300$/, 'the server has no free connection'],
  [/^53/, 'the disk of the server is full'],
  [/^25006$/, 'the server accepts no writes'],
  [/^(58|XX)/, 'the server failed'],
];

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error));
}

export function isLost(error: unknown): boolean {
  return LOST_CODE.test(codeOf(error)) || (error instanceof Error && LOST_MESSAGE.test(error.message));
}

/**
 * One sentence for failures that a person can fix or wait for; any other error is unexpected and returned unchanged.
 * `remedy`: if the server cannot be reached and nothing connects again.
 */
export function explain(place: string, error: unknown, remedy?: string): unknown {
  if (isLost(error)) {
    const data = { path: place, reason: detailOf(error), ...(remedy === undefined ? {} : { remedy }) };
    return new StrataError('STORE_UNREACHABLE', data, { cause: error });
  }
  const known = REASONS.find(([code]) => code.test(codeOf(error)));
  if (known === undefined) return error;
  const reason = `${known[1]} (${detailOf(error)})`;
  return new StrataError('STORE_UNUSABLE', { path: place, reason }, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** If several addresses were tried, the failure itself has no message. */
function detailOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return describe(first) || codeOf(error);
}
