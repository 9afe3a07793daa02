import { z } from 'zod';
import { parseJson } from './parse-json.ts';
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
const calls = z
  .array(call)
  .nullish()
  .transform((given) => given?.map((one, index) => ({ index, ...one })));
const delta = z.looseObject({ tool_calls: calls });
const choice = z
  .looseObject({ delta: delta.nullish(), message: delta.nullish(), finish_reason: written })
  .transform(({ message, ...rest }) => ({ ...rest, delta: rest.delta ?? message }));
const error = z
  .unknown()
  .optional()
  .transform((given) => (typeof given === 'string' ? { message: given } : given));
const groq = z
  .object({ usage: usage.transform((given) => given ?? undefined) })
  .optional()
  .catch(undefined);
const event = z
  .looseObject({ usage, error, choices: z.array(choice).nullish(), x_groq: groq })
  .transform(({ x_groq, ...rest }) => ({ ...rest, usage: rest.usage ?? x_groq?.usage }));
/** The content next to an error would hide it. */
const failed = z.object({ error: error.refine((told) => told !== undefined && told !== null) });
/** As vLLM writes it. */
const bare = z.looseObject({ object: z.literal('error'), message: z.string() }).transform((told) => ({ error: told }));
const readableEvent = z.union([failed, bare, event]);

/** What the provider package cannot read begins like this. */
const UNUSUAL =
  /"(?:usage|error|tool_calls)"|"message" {0,2}: {0,2}\{|"arguments" {0,2}: {0,2}\{|"finish_reason" {0,2}: {0,2}[^" n]/;

const BEGUN = /"(?:content|arguments)" {0,2}: {0,2}(?:"[^"]|[[{])/;
const ENDED = /"finish_reason" {0,2}: {0,2}[^ n]|"error" {0,2}: {0,2}[^ n]/;
const END = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });

/**
 * The provider package rejects a whole event for one unexpected value. Here, unreadable counts become `null`, and other
 * values what the interface describes. Some servers never give a reason for the end: the mark after the last event shows
 * that the answer is complete.
 */
export function withReadableEvents(send: typeof fetch): typeof fetch {
  return withLines(send, () => {
    let isOpen = false;
    return (line) => {
      if (!line.startsWith(PREFIX)) return line;
      if (line.slice(PREFIX.length).trim() === '[DONE]') return isOpen ? `${PREFIX} ${END}\n\n${line}` : line;
      isOpen = !ENDED.test(line) && (isOpen || BEGUN.test(line));
      return readable(line);
    };
  });
}

function readable(line: string): string {
  if (!UNUSUAL.test(line)) return line;
  const read = readableEvent.safeParse(parseJson(line.slice(PREFIX.length))).data;
  return read === undefined ? line : `${PREFIX} ${JSON.stringify(read)}`;
}

function isPlain(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'string';
}
