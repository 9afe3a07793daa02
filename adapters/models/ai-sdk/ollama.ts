import { z } from 'zod';
import { withLines } from './response.ts';

/** A text that is no JSON stays, so that the tool's own validation can explain the problem. */
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
const event = z
  .looseObject({
    error: z.string().optional(),
    message: z.looseObject({ content, tool_calls: calls }).optional(),
    done: z.boolean().optional(),
    done_reason: z.string().nullish(),
  })
  .transform(({ done_reason, ...rest }) => ({ ...rest, done_reason: done_reason ?? (rest.done ? 'stop' : undefined) }));

/**
 * The provider package prints a line that it cannot read, and goes on without it. Here, an error of Ollama ends the stream,
 * and so does a line that is none of its events. What servers write differently becomes what the package reads.
 */
export function withReadableLines(send: typeof fetch): typeof fetch {
  return withLines(send, () => (line) => {
    if (line.trim() === '') return line;
    const read = event.safeParse(objectIn(line)).data;
    if (read === undefined) throw new Error(`Invalid JSON response: the server sent ${kindOf(line)}`);
    if (read.error !== undefined) throw new Error(read.error);
    return JSON.stringify(read);
  });
}

function kindOf(line: string): string {
  return line.trimStart().startsWith('<') ? 'a web page' : 'a line that is no answer of Ollama';
}

function objectIn(text: string): unknown {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
