import { z } from 'zod';
import { formatLogLine, SEVERITIES } from '../../../src/adapter-kit.ts';

const lineSchema = z.looseObject({ level: z.enum(SEVERITIES), time: z.string(), message: z.string().default('') });

/** Formats one line of JSON for people. */
export function readableLine(line: string, options: { readonly color: boolean }): string {
  const parsed = lineSchema.safeParse(JSON.parse(line));
  if (!parsed.success) return line;
  const { level, time, message, ...fields } = parsed.data;
  return formatLogLine({ level, time, message, fields }, options);
}
