import type { Log, LogFields, Severity } from '../../ports/log.ts';
import { formatLogLine } from './log-line.ts';

/** Writes warnings and errors to standard error: the default log of a bot. */
export function createErrorLog(): Log {
  const write = (level: Severity, message: string, fields: LogFields = {}): void => {
    const { stderr } = process;
    const line = { level, time: new Date().toISOString(), message, fields };
    stderr.write(formatLogLine(line, { color: stderr.isTTY && stderr.hasColors() }));
  };
  return {
    debug() {},
    info() {},
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}
