import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import {
  createRedactor,
  escapeControls,
  LOG_LEVELS,
  type Log,
  type LogFields,
  type LogLevel,
  type LogOutput,
  type Severity,
} from '../../../src/adapter-kit.ts';
import { readableLine } from './readable.ts';

/** The options of `createPinoLog`. Only the level is required. */
export interface PinoLogOptions {
  readonly level: LogLevel;
  /** Receives the lines. Default: standard error. */
  readonly output?: LogOutput;
  /** Short lines for people instead of JSON. Default: if the output is a terminal. */
  readonly readable?: boolean;
  /** Values that must not appear anywhere in a line. */
  readonly secrets?: readonly string[];
}

/**
 * A log based on pino: one JSON object per line, or a readable line in a terminal. Written synchronously, so that a
 * crash loses nothing.
 */
export function createPinoLog(options: PinoLogOptions): Log {
  let logger: Logger | null = null;
  const lineOf = (level: Severity) => (message: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(options.level)) return;
    logger ??= openLogger(options);
    logger[level](distinct(fields), message);
  };
  return { debug: lineOf('debug'), info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') };
}

const require = createRequire(import.meta.url);

/** Loaded with the first line: many starts write none. */
function openLogger({ level, secrets = [], output = process.stderr, readable }: PinoLogOptions): Logger {
  const { pino }: typeof import('pino') = require('pino');
  const forPeople = readable ?? output.isTTY === true;
  const redact = createRedactor(secrets);
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line) {
        const safe = redact(line);
        output.write(forPeople ? readableLine(safe, { color: output.isTTY === true }) : escapeControls(safe));
      },
    },
  );
}

/** The keys of the line itself. Most parsers lose the first of two equal keys. */
const OWN_KEYS: readonly string[] = ['level', 'time', 'message'];

/** A field with a key of the line itself is renamed: `message` becomes `message_`. */
function distinct(fields: LogFields = {}): LogFields {
  const names = Object.keys(fields);
  if (!OWN_KEYS.some((key) => names.includes(key))) return fields;
  return Object.fromEntries(names.map((name) => [OWN_KEYS.includes(name) ? `${name}_` : name, fields[name]]));
}
