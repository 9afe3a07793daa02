import { z } from 'zod';
import { withLines } from './response.ts';

const PREFIX = 'data:';

const count = z.number().nonnegative().nullable().catch(null);
const details = z.record(z.string(), count).nullable().catch(null);
const usage = z
  .looseObject({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  })
  .nullish()
  .catch(null);

const written = z
  .unknown()
  .optional()
  .transform((given) => (isPlain(given) ? given : JSON.stringify(given)));
const call = z.looseObject({ function: z.looseObject({ arguments: written }).optional() });
const delta = z.looseObject({ tool_calls: z.array(call).nullish() });
const choice = z.looseObject({ delta: delta.nullish(), finish_reason: written });
const error = z
  .unknown()
  .optional()
  .transform((given) => (typeof given === 'string' ? { message: given } : given));
const event = z.looseObject({ usage, error, choices: z.array(choice).nullish() });

/** What the provider package cannot read begins like this. */
const UNUSUAL = /"(?:usage|error)"|"arguments" {0,2}: {0,2}\{|"finish_reason" {0,2}: {0,2}[^" n]/;

/**
 * The provider package rejects a whole event for one unexpected value. Here, unreadable counts become `null`, and other
 * values what the interface describes.
 */
export function withReadableEvents(send: typeof fetch): typeof fetch {
  return withLines(send, (line) => {
    if (!line.startsWith(PREFIX) || !UNUSUAL.test(line)) return line;
    const read = event.safeParse(parseJson(line.slice(PREFIX.length))).data;
    return read === undefined ? line : `${PREFIX} ${JSON.stringify(read)}`;
  });
}

function isPlain(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'string';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
