import { styleText } from 'node:util';
import { z } from 'zod';

const lineSchema = z.looseObject({ level: z.string(), time: z.string(), message: z.string().default('') });

/** `12:34:56 warn  message key=value`, from one line of JSON. */
export function readableLine(line: string, options: { readonly colour: boolean }): string {
  const parsed = lineSchema.safeParse(JSON.parse(line));
  if (!parsed.success) return line;
  const { level, time, message, ...fields } = parsed.data;
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${shownValue(value)}`);
  const head = `${time.slice(11, 19)} ${coloured(level, options.colour)}`;
  return `${[head, withoutControls(message), ...shown].join(' ')}\n`;
}

function coloured(level: string, colour: boolean): string {
  const padded = level.padEnd(5);
  if (!colour) return padded;
  const format = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
  return styleText(format, padded, { validateStream: false });
}

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? withoutControls(value) : JSON.stringify(value);
  return /^[^\s"=]+$/u.test(text) ? text : JSON.stringify(text);
}

/** Foreign text must not steer the terminal. */
function withoutControls(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}
