import { pino } from 'pino';
import type { Log } from '../../../src/index.ts';
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
        output.write(readable ? readableLine(safe, { colour: output.isTTY === true }) : safe);
      },
    },
  );
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
