import { describe, errorCode, StrataError } from '../../../src/adapter-kit.ts';

/**
 * The database is busy, out of memory, read-only, or full, or its disk fails: by SQLite's result codes, which drivers
 * report as a name or as a number.
 */
const PASSING_NAME = /^SQLITE_(BUSY|LOCKED|NOMEM|READONLY|IOERR|FULL|CANTOPEN|PROTOCOL)/;
const PASSING_NUMBERS: ReadonlySet<number> = new Set([5, 6, 7, 8, 10, 13, 14, 15]);
/** The low byte of an extended code is its primary code. */
const PRIMARY = 0xff;

/** One sentence for failures that may pass; any other error is unexpected and returned unchanged. */
export function explain(path: string, error: unknown): unknown {
  if (error instanceof StrataError || !(error instanceof Error)) return error;
  const number = 'errcode' in error ? Number(error.errcode) : 0;
  if (!PASSING_NAME.test(errorCode(error)) && !PASSING_NUMBERS.has(number & PRIMARY)) return error;
  return new StrataError('STORE_UNUSABLE', { path, reason: describe(error) }, { cause: error });
}
