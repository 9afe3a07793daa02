/** From the least severe to the most. */
export const SEVERITIES = ['debug', 'info', 'warn', 'error'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The levels of a log, in ascending order. */
export const LOG_LEVELS = [...SEVERITIES, 'silent'] as const;
/** The lowest severity that a log writes; `silent` writes nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Structured log lines. Fields contain ids, counts and durations, and by default never the text of messages. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** What a line says besides the name of its event. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
