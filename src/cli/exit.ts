import { type ErrorCode, StrataError } from '../domain/errors.ts';
import type { ExitCode } from './cli.ts';

/** Errors that the user fixes by changing arguments or configuration. They exit with 2, not 1. */
const WRONG_USE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'USAGE',
  'CONFIG_INVALID',
  'CONFIG_UNREADABLE',
  'KEY_INVALID',
  'MODEL_UNKNOWN',
  'MODEL_KEY_MISSING',
  'MODEL_KEY_INVALID',
  'ADAPTER_MISSING',
  'STORE_MISSING',
  'COMMAND_UNKNOWN',
  'COMMAND_USAGE',
  'PROMPT_INVALID',
  'TOOL_DUPLICATE',
  'TOOL_INVALID',
  'PLUGIN_INVALID',
  'SEND_INVALID',
]);

export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof StrataError && WRONG_USE.has(error.code) ? 2 : 1;
}
