import { z } from 'zod';
import * as loose from './loose.ts';
import { withLines } from './response.ts';

/** A text that is not JSON stays, so that the tool's own validation can explain the problem. */
const written = z
  .unknown()
  .optional()
  .transform((given) =>
    typeof given === 'string' && given !== '' ? (objectIn(given) ?? { input: given }) : given || {},
  );
const call = z.looseObject({ function: z.looseObject({ arguments: written }) });
const calls = z
  .array(call)
  .nullish()
  .transform((given) => given ?? undefined);
const content = z
  .string()
  .nullish()
  .transform((given) => given ?? '');
const NOTHING = { role: 'assistant', content: '', tool_calls: undefined };
const UNKNOWN_TIME = new Date(0).toISOString();
const count = loose.count.transform((given) => given ?? undefined);
const event = z
  .looseObject({
    model: z.string().catch(''),
    created_at: z.string().catch(UNKNOWN_TIME),
    error: z.string().optional(),
    message: z.looseObject({ role: z.string().catch('assistant'), content, tool_calls: calls }).default(NOTHING),
    done: z.boolean().default(false),
    done_reason: z.string().nullish(),
    eval_count: count,
    eval_duration: count,
    load_duration: count,
    prompt_eval_count: count,
    prompt_eval_duration: count,
    total_duration: count,
  })
  .transform(({ done_reason, ...rest }) => ({ ...rest, done_reason: done_reason ?? (rest.done ? 'stop' : undefined) }));

/**
 * The provider package prints a line that it cannot read, and goes on without it. Here, an error of Ollama ends the stream,
 * and so does a line that is none of its events. What servers write differently becomes what the package reads.
 */
export function withReadableLines(send: typeof fetch): typeof fetch {
  return withLines(send, () => ({ change: readable, isLast: (line) => DONE.test(line) && read(line)?.done === true }));
}

const DONE = /"done" {0,2}: {0,2}true/;

function readable(line: string): string {
  if (line.trim() === '') return line;
  const found = read(line);
  if (found === undefined) throw new Error(`Invalid JSON response: the server sent ${kindOf(line)}`);
  if (found.error !== undefined) throw new Error(found.error);
  return JSON.stringify(found);
}

function read(line: string): z.infer<typeof event> | undefined {
  return event.safeParse(objectIn(line)).data;
}

function kindOf(line: string): string {
  return line.trimStart().startsWith('<') ? 'a web page' : 'a line that is not an answer of Ollama';
}

function objectIn(text: string): unknown {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
