import { pino } from 'pino';
import type { Log, LogFields } from '../../../src/adapter-kit.ts';
import { readableLine } from './readable.ts';
import { createRedactor } from './redact.ts';

export interface PinoLogOptions {
  /** Least severe lines that are written. */
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Where lines go, each with its line break: standard error unless given. */
  readonly output?: LogOutput;
  /** Short lines for people instead of JSON; by default where the output is a terminal. */
  readonly readable?: boolean;
  /** Values that never appear, wherever they turn up in a line. */
  readonly secrets?: readonly string[];
}

export interface LogOutput {
  write(line: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** A log on pino: one JSON object a line, or a readable line at a terminal. Written at once, so that a crash loses nothing. */
export function createPinoLog(options: PinoLogOptions): Log {
  const output = options.output ?? process.stderr;
  const readable = options.readable ?? output.isTTY === true;
  const redact = createRedactor(options.secrets ?? []);
  const logger = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line) {
        const safe = redact(line);
        output.write(readable ? readableLine(safe, { color: output.isTTY === true }) : safe);
      },
    },
  );
  return {
    debug: (message, fields) => logger.debug(distinct(fields), message),
    info: (message, fields) => logger.info(distinct(fields), message),
    warn: (message, fields) => logger.warn(distinct(fields), message),
    error: (message, fields) => logger.error(distinct(fields), message),
  };
}

/** The keys of the line itself. JSON that has one of them twice loses the first value in most parsers. */
const OWN_KEYS: readonly string[] = ['level', 'time', 'message'];

/** A field that would take the key of the line itself gets a key of its own: `message` becomes `message_`. */
function distinct(fields: LogFields = {}): LogFields {
  const names = Object.keys(fields);
  if (!OWN_KEYS.some((key) => names.includes(key))) return fields;
  return Object.fromEntries(names.map((name) => [OWN_KEYS.includes(name) ? `${name}_` : name, fields[name]]));
}
