import { z } from 'zod';
import { count, name, text, words } from './loose.ts';
import { parseJson } from './parse-json.ts';
import { createRest, DATA, dataLine, reshaped, withLines } from './response.ts';

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
const index = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,6}$/)
      .transform(Number),
  ])
  .optional()
  .catch(undefined);
const call = z
  .looseObject({ index, id: name, function: z.looseObject({ name, arguments: written }) })
  .transform(({ type, ...one }) => one);
/** One without a function says nothing. */
const calls = z
  .union([z.array(z.unknown()), z.looseObject({}).transform((one) => [one])])
  .nullish()
  .catch(null)
  .transform((given) => given?.flatMap((one) => call.safeParse(one).data ?? []))
  .transform((given) => given?.map((one, at) => ({ ...one, index: one.index ?? at })));
/** What nobody reads is left out, whatever its form. */
const delta = z
  .looseObject({ content: words, refusal: text, reasoning: text, reasoning_content: text, tool_calls: calls })
  .transform(({ role, annotations, ...rest }) => rest);
const choice = z
  .looseObject({ index: z.int().catch(0), delta: delta.nullish(), message: delta.nullish(), finish_reason: written })
  .transform(({ message, logprobs, ...rest }) => ({ ...rest, delta: rest.delta ?? message }));
const choices = z
  .array(choice)
  .nullish()
  .transform((given) => given ?? []);
const error = z
  .unknown()
  .optional()
  .transform((given) => (typeof given === 'string' ? { message: given } : given));
const groq = z
  .object({ usage: usage.transform((given) => given ?? undefined) })
  .optional()
  .catch(undefined);
const event = z
  .looseObject({ id: name, model: name, created: z.number().nullish().catch(null), usage, choices, x_groq: groq })
  .transform(({ x_groq, error: none, ...rest }) => ({ ...rest, usage: rest.usage ?? x_groq?.usage }));
/** The content next to an error would hide it. */
const failed = z.object({ error: error.refine((told) => told !== undefined && told !== null) });
/** As vLLM writes it. */
const bare = z.looseObject({ object: z.literal('error'), message: z.string() }).transform((told) => ({ error: told }));
const readableEvent = z.union([failed, bare, event]);

const BEGUN = /"(?:content|arguments)" {0,2}: {0,2}(?:"[^"]|[[{])/;
const ENDED = /"finish_reason" {0,2}: {0,2}[^ n]|"error" {0,2}: {0,2}[^ n]/;
const FINISHED = /"finish_reason" {0,2}: {0,2}"\w/;
const COUNTED = /"usage" {0,2}: {0,2}\{/;
const END = dataLine({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });

/**
 * The provider package rejects a whole event for one unexpected value. Here, unreadable counts become `null`, and other
 * values what the interface describes. Some servers never give a reason for the end: the mark after the last event shows
 * that the answer is complete.
 */
export function withReadableEvents(send: typeof fetch): typeof fetch {
  return withLines(send, () => {
    let isOpen = false;
    return {
      change: (line) => {
        if (line.startsWith(ERROR)) return errorEvent(line);
        if (!line.startsWith(DATA)) return line;
        if (isEnd(line)) return isOpen ? `${END}\n\n${line}` : line;
        isOpen = !ENDED.test(line) && (isOpen || BEGUN.test(line));
        return reshaped(line, readableEvent);
      },
      isLast: isEnd,
      restMs: createRest({ ended: FINISHED, goesOn: BEGUN, counts: COUNTED }),
    };
  });
}

function isEnd(line: string): boolean {
  return line.startsWith(DATA) && line.slice(DATA.length).trim() === '[DONE]';
}

/** As older servers of llama.cpp write it. */
const ERROR = 'error:';

function errorEvent(line: string): string {
  const told = parseJson(line.slice(ERROR.length));
  return told === null ? line : dataLine({ error: told });
}

function isPlain(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'string';
}
