import { styleText } from 'node:util';
import { escapeControls, withoutControls } from '../../domain/controls.ts';
import type { Severity } from '../../ports/log.ts';

export interface LogLine {
  readonly level: Severity;
  /** ISO 8601. */
  readonly time: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Formats a line for people: `12:34:56 warn message key=value`. Foreign text cannot control the terminal. */
export function formatLogLine({ level, time, message, fields }: LogLine, options: { readonly color: boolean }): string {
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${shownValue(value)}`);
  return `${[time.slice(11, 19), colored(level, options.color), oneLine(message), ...shown].join(' ')}\n`;
}

function colored(level: Severity, color: boolean): string {
  const padded = level.padEnd(5);
  if (!color) return padded;
  const format = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
  return styleText(format, padded, { validateStream: false });
}

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? oneLine(value) : escapeControls(String(JSON.stringify(value)));
  return /^[^\s"=]+$/u.test(text) ? text : JSON.stringify(text);
}

function oneLine(text: string): string {
  return withoutControls(text.replace(/\p{Cc}+/gu, ' ')).trim();
}
